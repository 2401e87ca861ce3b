"""Side files at the borders of what the runtime's readers take (facts/hccl.yaml)."""

import pytest

from npu_config.sidefiles import FORMATS

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
