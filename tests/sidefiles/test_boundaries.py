"""Side files at the borders of what the runtime's readers take (facts/hccl.yaml)."""

import pytest

from npu_config.core.diagnostics import Severity
from npu_config.sidefiles import FORMATS, op_debug

NAME = "n" * 1001

REFUSED = [
    ("customize_dtypes", "a::InputDtype:float16\u00a0\n"),  # only C's blanks are trimmed
    ("customize_dtypes", "a::InputDtype:\u00a0\n"),
    ("fusion_switch", "A:on\u00a0\n"),
    ("fusion_switch", '{"Switch": {"GraphFusion": {"A": "on\u00a0"}}}'),
    ("fusion_switch", '{"ExceptionalPassOfO1Level ": "A"}'),
    ("fusion_switch", "1A:on\nB:off\n"),
    ("profiling", '{"output": "prof", "host_sys": "cpu, mem"}'),
    ("profiling", '{"output": "prof", "sys_hardware_mem_freq": 101}'),
    ("profiling", '{"output": "prof", "aic_metrics": "Custom:1 ,2"}'),
    ("fusion_switch", "{A:on\nB\n"),  # neither JSON nor lines
    ("fusion_switch", '{"Switch": {"GraphFusion": {"A": "on",}}}'),
    ("fusion_switch", "\ufeff\nA:on\n"),  # the first line is not empty
    ("fusion_switch", '{"Priority": {"GraphFusion": {"Top": {"A": "%s9999"}}}}' % ("0" * 5000)),
]
ACCEPTED = [
    ("customize_dtypes", NAME + ":InputDtype:float,int8\n"),  # 1,023 bytes with one colon
    ("customize_dtypes", "InputDtype:int8\nxOutputDtype:int8\n"),  # the name's own keyword
    ("customize_dtypes", "OpType::InputDtype:int8,OutputDtype:float\n"),
    ("customize_dtypes", "aInputDtype,OutputDtype:float\n"),
    ("customize_dtypes", "OpType::OpType:InputDtype:int8\n"),
    ("customize_dtypes", "\u00a0a::InputDtype:int8\n"),
    ("fusion_switch", "B:off\n1A:on\n"),  # only the start of the file is tried as JSON
    ("fusion_switch", '{"ExceptionalPassOfO1Level ": [1]}'),
    ("profiling", '{"output": "prof", "sys_hardware_mem_freq": 100}'),
    ("profiling", '{"output": "prof", "sys_lp_freq": 10000}'),
    ("profiling", '{"output": "prof", "task_trace": "", "task_time": "l0"}'),
    ("fusion_switch", "{A:on\nB:off\n"),  # no JSON, so it is read by lines
    ("fusion_switch", "#A:on\n{B:off\n"),
    ("fusion_switch", '{"Priority": {"GraphFusion": {"Top": {"A": "%s7"}}}}' % ("0" * 5000)),
]
WARNED = [  # a byte order mark is a part of the first line
    ("customize_dtypes", "OpType::A:InputDtype:int8\n"),
    ("fusion_switch", "A:on\nB:off\n"),
    ("op_debug", "# a comment\nop_debug_config=oom\n"),
    ("op_precision", "[ByNodeName]\nA=high_precision\n"),
    ("op_precision", "# a comment\nA=high_precision\n"),
]


@pytest.mark.parametrize(("kind", "text"), REFUSED)
def test_refused(kind, text):
    """What the runtime refuses is an error."""
    assert FORMATS[kind].parse(text).diagnostics.errors


@pytest.mark.parametrize(("kind", "text"), ACCEPTED)
def test_accepted_and_written_again(kind, text):
    """What the runtime takes is no error, and neither is what is written of it."""
    parsed = FORMATS[kind].parse(text)
    assert not parsed.diagnostics.errors
    again = FORMATS[kind].parse(FORMATS[kind].render(parsed.model))
    assert parsed.model == again.model


@pytest.mark.parametrize(("kind", "text"), WARNED)
def test_byte_order_mark(kind, text):
    """Where the runtime reads lines, a byte order mark is a warning with a fix."""
    form = FORMATS[kind]
    (found,) = form.parse("\ufeff" + text).diagnostics
    assert found.severity is Severity.WARNING
    assert text == form.clean("\ufeff" + text)


def test_lines_of_op_debug_by_what_they_hold():
    """A line that holds a key counts, with a byte order mark before it without a word."""
    parsed = FORMATS["op_debug"].parse("\ufeffop_debug_config=oom\nmy op_debug_list=a,T::B\n")
    assert parsed.model == op_debug.OpDebug.of(["oom"], ["a"], ["B"])
    assert [found.rule for found in parsed.diagnostics] == ["NPU741"]


@pytest.mark.parametrize("kind", sorted(FORMATS))
def test_bytes_that_are_no_utf_8(kind, tmp_path):
    """A comment in GBK does no harm where the runtime refuses no content; elsewhere it is told."""
    path = tmp_path / "file"
    path.write_bytes("# 说明\n".encode("gbk"))
    refused = [] if kind in ("op_debug", "op_precision") else ["NPU715"]
    assert refused == [found.rule for found in FORMATS[kind].load(path).diagnostics]
