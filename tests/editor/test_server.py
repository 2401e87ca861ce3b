"""What an editor is shown, offered and told, for every kind of file, by a server of its own."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("pygls")

from npu_config.cli._session import OpenFileChecker
from npu_config.editor.lines import Lines
from tests.editor.client import ROOT, Client, uri

SCRIPT = """\
import tensorflow as tf
from npu_bridge.npu_init import *
from npu_config import NpuConfig, NpuConfigBuilder
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
{}
"""
TABLE = """\
{"version": "1.0", "status": "completed", "server_count": "1", "server_list": [
  {"server_id": "a", "device": [{"device_id": "0", "device_ip": "10.0.0.1", "rank_id": "0"%s}]%s}
]}
"""
PROTO = """\
graph_options { rewrite_options { custom_optimizers { name: "NpuOptimizer"
  parameter_map { key: "%s" value { %s } }
} } }
"""
DTYPES = "OpType::Add:InputDtype:float\n"
FILES = {"ops_info.json": "{}\n", "ranks.json": TABLE % ("", ""), "conf/base.yaml": "version: 1\n"}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with files that others name."""
    folder = tmp_path_factory.mktemp("project")
    (folder / ".git").mkdir()
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def editor(project):
    """A server that every test of the module asks."""
    with Client(project) as client:
        yield client


def opened(editor, project, name, text):
    """Open a text in which ``|`` is the cursor; its path, the position, the text, the findings."""
    offset = text.index("|")
    text = text[:offset] + text[offset + 1 :]
    found = editor.found(project / name, text)
    return project / name, Lines(text).position(offset), text, found


def edited(text, edits):
    """A text with edits of the protocol done."""
    lines = Lines(text)
    spans = [
        tuple(lines.offset(e["range"][end]["line"], e["range"][end]["character"]) for end in ENDS)
        for e in edits
    ]
    for (start, end), each in sorted(zip(spans, edits), key=lambda pair: pair[0], reverse=True):
        text = text[:start] + each["newText"] + text[end:]
    return text


ENDS = ("start", "end")

COMPLETIONS = [
    ("c.yaml", "version: 1\nhccl_|\n", "hccl_timeout", "hccl_timeout: "),
    ("c.yaml", "version: 1\nprecision:\n  pre|\n", "precision_mode_v2", "precision_mode_v2: "),
    ("c.yaml", "version: 1\n|\n", "precision", "precision:"),
    ("c.yaml", "version: 1\ndeterministic: |\n", "1", "1"),
    ("c.yaml", "version: 1\nenable_dump: t|\n", "true", "true"),
    ("c.yaml", "version: 1\ntarget:\n  product: atlas|\n", "atlas_a2", "atlas_a2"),
    ("c.yaml", 'version: 1\ndump_mode: "o|"\n', "output", "output"),
    ("c.yaml", "version: 1\nhcl_timeout: 1  # npu: ignore[NPU10|]\n", "NPU101", "NPU101"),
    ("c.yaml", "version: 1\nprofiling_options:\n  task_|\n", "task_trace", "task_trace: "),
    ("c.toml", "version = 1\nhccl_|\n", "hccl_timeout", "hccl_timeout = "),
    ("c.toml", "version = 1\n[dump]\nenable_|\n", "enable_dump", "enable_dump = "),
    ("c.toml", "version = 1\n[pre|\n", "precision", "precision"),
    ("c.toml", "version = 1\ndump_mode = |\n", "output", '"output"'),
    ("c.toml", "version = 1\n[target]\nproduct = 'atlas|'\n", "atlas_a2", "atlas_a2"),
    ("c.json", '{"version": 1, "hccl_|": 5}', "hccl_timeout", "hccl_timeout"),
    ("c.json", '{"version": 1, |', "hccl_timeout", '"hccl_timeout": '),
    ("c.json", '{"version": 1, "dump": {"enable_|"}}', "enable_dump", "enable_dump"),
    ("c.json", '{"version": 1, "dump_mode": |}', "output", '"output"'),
    ("s.pbtxt", PROTO % ("hccl_|", ""), "hccl_timeout", "hccl_timeout"),
    ("s.pbtxt", PROTO % ("dump_mode", 's: "o|"'), "output", "output"),
    ("s.py", SCRIPT.format('custom_op.parameter_map["hccl_|"].i = 5'), "hccl_timeout", None),
    ("s.py", SCRIPT.format('custom_op.parameter_map["hccl_timeout"].|'), "i", "i = "),
    (
        "s.py",
        SCRIPT.format('custom_op.parameter_map["dump_mode"].s = |'),
        "output",
        'tf.compat.as_bytes("output")',
    ),
    (
        "s.py",
        SCRIPT.format('custom_op.parameter_map["dump_mode"].s = tf.compat.as_bytes("o|")'),
        "output",
        "output",
    ),
    (
        "s.py",
        SCRIPT.format('custom_op.parameter_map["enable_dump"].b = |'),
        "True",
        "True",
    ),
    ("s.py", SCRIPT.format("NPURunConfig(hccl_|)"), "hccl_timeout", "hccl_timeout="),
    ("s.py", SCRIPT.format("NPURunConfig(\n    jit_compile=|)"), "auto", '"auto"'),
    ("s.py", SCRIPT.format("DumpConfig(dump_mode='o|')"), "output", "output"),
    ("s.py", SCRIPT.format("NpuConfigBuilder().set(hccl_|)"), "hccl_timeout", "hccl_timeout="),
    ("s.py", SCRIPT.format('NpuConfigBuilder().data_dump("/x").d|'), "dynamic_shape", None),
    ("s.py", SCRIPT.format("NpuConfig({'hccl_|': 1})"), "hccl_timeout", "hccl_timeout"),
    ("s.py", SCRIPT.format("NpuConfig({'dump_mode': |})"), "output", '"output"'),
    ("run.sh", "export RANK_|\n", "RANK_TABLE_FILE", "RANK_TABLE_FILE="),
    ("run.sh", "export HCCL_WHITELIST_DISABLE=|\n", "1", "1"),
    ("ops_info_b.json", '{"black-list": {"to-|"}}', "to-add", "to-add"),
    ("ranks_b.json", TABLE % (', "|"', ""), "device_port", "device_port"),
    ("ranks_b.json", TABLE % ("", ', "|"'), "host_ip", "host_ip"),
    ("ranks_c.json", '{"status": "|", "server_count": "1"}', "completed", "completed"),
    ("ranks_c.json", '{"status": "", "version": "|", "server_count": "1"}', "1.2", "1.2"),
    ("fusion_switch.cfg", '{"Switch": {"GraphFusion": {}, "|"}}', "UBFusion", "UBFusion"),
    ("fusion_switch.cfg", '{"Switch": {"GraphFusion": {"|"}}}', "ALL", "ALL"),
    ("op_cache.ini", "[op_compiler_cache]\nmax_|\n", "max_op_cache_size", None),
    ("insert_op.cfg", "aipp_op {\n  aipp_mode: st|\n}\n", "static", "static"),
    ("fusion_switch.cfg", '{"Switch": {"GraphFusion": {"ALL": "|"}}}', "off", "off"),
    ("fusion_switch.cfg", "PoolingFusionPass:on\nOtherPass:o|\n", "off", "off"),
    ("op_precision.ini", "[ByOpType]\nAdd=high_p|\n", "high_precision", "high_precision"),
    ("op_precision.ini", "[ByOpType]\nAdd=keep_fp16\n[By|\n", "ByNodeName]", None),
    ("dtypes.cfg", DTYPES + "OpType::Softmax:|\n", "InputDtype:", None),
    ("dtypes.cfg", DTYPES + "net/Relu::InputDtype:bfl|\n", "bfloat16", None),
    ("dtypes.cfg", DTYPES + "net/Relu::InputDtype:float,|\n", "OutputDtype:", None),
    ("c.yaml", "version: 1\nextends: conf/|\n", "base.yaml", "base.yaml"),
    ("conf/c.yaml", "version: 1\nextends: |\n", "base.yaml", "base.yaml"),
    ("conf/c.yaml", "version: 1\nmodify_mixlist: |\n", "ops_info.json", "ops_info.json"),
    ("c.toml", "version = 1\nmodify_mixlist = |\n", "ops_info.json", '"ops_info.json"'),
    ("c.json", '{"version": 1, "modify_mixlist": "o|"}', "ops_info.json", "ops_info.json"),
    ("c.json", '{"version": 1, "extends": "|"}', "conf/", "conf/"),
    ("s.pbtxt", PROTO % ("modify_mixlist", 's: "o|"'), "ops_info.json", "ops_info.json"),
    (
        "s.py",
        SCRIPT.format('custom_op.parameter_map["modify_mixlist"].s = |'),
        "ops_info.json",
        'tf.compat.as_bytes("ops_info.json")',
    ),
    ("s.py", SCRIPT.format('NpuConfig.load("conf/|")'), "base.yaml", "base.yaml"),
    ("s.py", SCRIPT.format("NPURunConfig(modify_mixlist='./o|')"), "ops_info.json", None),
    ("s.py", SCRIPT.format('os.environ["HCCL_|"] = "1"'), "HCCL_BUFFSIZE", "HCCL_BUFFSIZE"),
    ("s.py", SCRIPT.format('os.environ["HCCL_WHITELIST_DISABLE"] = |'), "1", '"1"'),
    ("s.py", SCRIPT.format('os.environ["RANK_TABLE_FILE"] = "ra|"'), "ranks.json", None),
    ("s.py", SCRIPT.format("Target(pro|)"), "product", "product="),
    ("s.py", SCRIPT.format('Target(product="atlas_|")'), "atlas_a2", "atlas_a2"),
    ("run.sh", "export RANK_TABLE_FILE=ra|\n", "ranks.json", "ranks.json"),
    ("job.env", "RANK_TAB|\n", "RANK_TABLE_FILE", "RANK_TABLE_FILE="),
    ("op_debug.cfg", "op_debug_config=oo|\n", "oom", "oom"),
    ("c.yaml", "version: 1\nextends: [conf/base.yaml, |]\n", "ranks.json", "ranks.json"),
    ("c.yaml", "version: 1\nextends:\n- conf/|\n", "base.yaml", "base.yaml"),
    ("c.toml", "version = 1\nextends = ['conf/|']\n", "base.yaml", "base.yaml"),
    ("s.pbtxt", PROTO % ("hccl_timeout", "|"), "i", "i: "),
    ("s.py", SCRIPT.format("NpuConfigBuilder().data_dump('/x', m|)"), "mode", "mode="),
    ("s.py", SCRIPT.format("NpuConfigBuilder().data_dump('/x', mode=|)"), "all", '"all"'),
    ("s.py", SCRIPT.format("NpuConfigBuilder().precision('o|')"), "origin", "origin"),
    ("s.py", SCRIPT.format("NpuConfigBuilder().deterministic(enabled=|)"), "True", "True"),
    ("s.py", SCRIPT.format("NpuConfigBuilder().profiling(task_time='l|')"), "l1", "l1"),
    ("s.py", SCRIPT.format("NpuConfigBuilder().fusion_off('conf/|')"), "base.yaml", None),
    ("run.sh", "export HCCL_BUFFSIZE=200\necho ${RANK_|}\n", "RANK_ID", "RANK_ID"),
    ("run.sh", "docker run -e RANK_| image\n", "RANK_TABLE_FILE", "RANK_TABLE_FILE"),
    (
        "job.json",
        '{"device_info": {"Index": 0}, "rank_table_file": "|", "rank_size": 1}',
        "ranks.json",
        "ranks.json",
    ),
]


@pytest.mark.parametrize(("name", "text", "label", "written"), COMPLETIONS)
def test_completion(editor, project, name, text, label, written):
    """What is legal there is offered, written as the format writes it."""
    path, position, text, _ = opened(editor, project, name, text)
    offered = {each["label"]: each for each in editor.complete(path, *position)}
    assert label in offered
    edit = offered[label]["textEdit"]
    assert (written or label) == edit["newText"]
    assert edited(text, [edit]) != text


MIDDLE = [
    ("c.yaml", "version: 1\nhccl_|time: 5\n", "hccl_timeout", "\nhccl_timeout: 5\n"),
    ("c.yaml", "version: 1\n|time: 5\n", "hccl_timeout", "\nhccl_timeout: 5\n"),
    ("c.yaml", "version: 1\ndump_mode: o|ut\n", "output", ": output\n"),
    ("c.yaml", "version: 1\nextends: conf/b|as.yml\n", "base.yaml", " conf/base.yaml\n"),
    ("c.yaml", "version: 1\nextends: co|n/base.yaml\n", "conf/", " conf/base.yaml\n"),
    ("c.yaml", "version: 1\nx: 1  # npu: ignore[NPU1|04, NPU2]\n", "NPU101", "[NPU101, NPU2]"),
    ("c.toml", "version = 1\nhccl_|time = 5\n", "hccl_timeout", "\nhccl_timeout = 5\n"),
    ("c.toml", "version = 1\n[pre|cis]\n", "precision", "\n[precision]\n"),
    ("c.json", '{"version": 1, "hccl_|time": 5}', "hccl_timeout", ' "hccl_timeout": 5}'),
    ("s.pbtxt", PROTO % ("hccl_|time", "i: 5"), "hccl_timeout", ' "hccl_timeout" value'),
    ("s.pbtxt", PROTO % ("dump_mode", 's: "o|ut"'), "output", ' s: "output" }'),
    ("s.py", SCRIPT.format("NPURunConfig(hccl_|time=5)"), "hccl_timeout", "(hccl_timeout=5)"),
    ("s.py", SCRIPT.format('x.parameter_map["hccl_timeout"].|s = 5'), "i", '"].i = 5'),
    (
        "s.py",
        SCRIPT.format('NpuConfigBuilder().d|ata("/x").b()'),
        "data_dump",
        '.data_dump("/x").b',
    ),
    ("s.py", SCRIPT.format("os.environ['RANK_|TABLE']"), "RANK_TABLE_FILE", "['RANK_TABLE_FILE']"),
    ("run.sh", "export RANK_|TABLE=/x\n", "RANK_TABLE_FILE", "export RANK_TABLE_FILE=/x\n"),
    ("run.sh", "export RANK_TABLE_FILE=ra|nk.json\n", "ranks.json", "=ranks.json\n"),
    ("ops_info_b.json", '{"black-list": {"to-|ad": []}}', "to-add", '{"to-add": []}'),
    ("ranks_b.json", TABLE % (', "device_|p": "1"', ""), "device_port", ' "device_port": "1"'),
    ("fusion_switch.cfg", '{"Switch": {"UB|Fus": {}}}', "UBFusion", '{"UBFusion": {}}'),
    (
        "op_cache.ini",
        "[op_compiler_cache]\nmax_|op=5\n",
        "max_op_cache_size",
        "\nmax_op_cache_size=5",
    ),
    ("insert_op.cfg", "aipp_op {\n  aipp_|mod: static\n}\n", "aipp_mode", " aipp_mode: static"),
    ("op_precision.ini", "[ByOpType]\nAdd=high_|prec\n", "high_precision", "=high_precision\n"),
    ("job.env", "RANK_|TABLE=/x\n", "RANK_TABLE_FILE", "RANK_TABLE_FILE=/x\n"),
    (
        "job.json",
        '{"device_info": {"Index": 0}, "rank_table_file": "ran|k.json", "rank_size": 1}',
        "ranks.json",
        '"ranks.json", ',
    ),
    ("op_debug.cfg", "op_debug_config=o|o\n", "oom", "=oom\n"),
    ("dtypes.cfg", DTYPES + "a/Relu::Input|Dty:float\n", "InputDtype:", "::InputDtype:float\n"),
]
WHOLE = {"textDocument": {"completion": {"completionItem": {"insertReplaceSupport": True}}}}


@pytest.mark.parametrize(("name", "text", "label", "expected"), MIDDLE)
def test_completion_in_the_middle_of_a_word(editor, project, name, text, label, expected):
    """The rest of the word does not stay behind what is chosen, nor is a sign there twice."""
    path, position, text, _ = opened(editor, project, name, text)
    edit = next(e for e in editor.complete(path, *position) if e["label"] == label)["textEdit"]
    assert expected in edited(text, [edit])


def test_an_editor_that_inserts_or_replaces(project):
    """Where the user chooses whether the rest of the word stays, both places are said."""
    text = "version: 1\nhccl_time: 5\n"
    with Client(project, capabilities=WHOLE) as client:
        client.found(project / "c.yaml", text)
        items = client.complete(project / "c.yaml", 1, 5)
        edit = next(each for each in items if each["label"] == "hccl_timeout")["textEdit"]
    ends = [edit[way]["end"]["character"] for way in ("insert", "replace")]
    assert (ends, edit["newText"]) == ([5, 9], "hccl_timeout")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("other.yaml", "services:\n  web: |\n"),
        ("other.py", "import numpy\nnumpy.|\n"),
        ("other.py", "import os\nos.environ['|']\n"),
        ("other.sh", "l|\n"),
        ("other.json", '{"name": "|"}'),
        ("other.txt", "some words|\n"),
    ],
)
def test_nothing_is_offered_in_other_files(editor, project, name, text):
    """Foreign files draw nothing: neither findings nor completion, pages or links."""
    path, position, _, found = opened(editor, project, name, text)
    assert (found, editor.complete(path, *position)) == ([], [])
    assert editor.hover(path, *position) is None
    assert editor.ask("textDocument/documentLink", textDocument={"uri": uri(path)}) == []
    assert editor.actions(path, 0, 9) == []


def test_pages_come_with_completion(editor, project):
    """The page of what is chosen is fetched when it is looked at."""
    path, position, *_ = opened(editor, project, "c.yaml", "version: 1\nhccl_|\n")
    item = next(i for i in editor.complete(path, *position) if i["label"] == "hccl_timeout")
    resolved = editor.ask("completionItem/resolve", **item)
    assert resolved["documentation"]["value"].startswith("# hccl_timeout\n")


HOVERS = [
    ("c.yaml", "version: 1\nhccl_time|out: 5\n", "# hccl_timeout"),
    ("c.yaml", "version: 1\ndump_mode: out|put\n", "# dump_mode"),
    ("c.yaml", "version: 1\npreci|sion:\n  precision_mode_v2: fp16\n", "# precision\n"),
    ("c.yaml", "version: 1\nhcl_timeout: 1  # npu: ignore[NPU1|01]\n", "# NPU101"),
    ("c.yaml", "version: 1\nhcl_timeout: 1  # npu: ignore[unknown-op|tion]\n", "# NPU101"),
    ("c.toml", "version = 1\nhccl_time|out = 5\n", "# hccl_timeout"),
    ("c.json", '{"version": 1, "hccl_time|out": 5}', "# hccl_timeout"),
    ("s.pbtxt", PROTO % ("hccl_time|out", "i: 5"), "# hccl_timeout"),
    ("s.py", SCRIPT.format('custom_op.parameter_map["hccl_time|out"].i = 5'), "# hccl_timeout"),
    ("s.py", SCRIPT.format("NPURunConfig(hccl_time|out=5)"), "# NPURunConfig: hccl_timeout"),
    ("s.py", SCRIPT.format("NpuConfigBuilder().set(hccl_time|out=5)"), "# hccl_timeout"),
    ("s.py", SCRIPT.format("NpuConfigBuilder().data_du|mp('/x')"), "# NpuConfigBuilder.data_dump"),
    ("s.py", SCRIPT.format("hccl_time|out = 5"), None),
    ("s.py", SCRIPT.format('op.parameter_map["dump_mode"].s = b"out|put"'), "# dump_mode"),
    ("s.py", SCRIPT.format("NPURunConfig(dump_config=x, jit_compile='au|to')"), "# NPURunConfig"),
    ("s.py", SCRIPT.format("NpuConfig({'dump_mode': 'out|put'})"), "# dump_mode"),
    ("s.py", SCRIPT.format("other(dump_mode='out|put')"), None),
    ("c.yaml", "version: 1\nprofiling_options:\n  task_|time: l1\n", "# task_time"),
    ("c.yaml", "version: 1\ntarget:\n  product: atlas|_a2\n", "# Target"),
    ("c.yaml", "version: 1\next|ends: conf/base.yaml\n", "# One configuration for many jobs"),
    ("run.sh", "export HCCL_BUFFSIZE=200\necho ${RANK_|ID-0}\n", "# RANK_ID"),
    ("s.py", SCRIPT.format("os.environ['RANK_TABLE_|FILE'] = x"), "# RANK_TABLE_FILE"),
    ("run.sh", "export RANK_TABLE_|FILE=/x.json\n", "# RANK_TABLE_FILE"),
    ("job.env", "RANK_TABLE_|FILE=/x.json\n", "# RANK_TABLE_FILE"),
    ("job.json", '{"device_info": {"Index": 0}, "rank_ta|ble_file": ""}', "# rank_table_file"),
    ("op_cache.ini", "[op_compiler_cache]\nmax_op_|cache_size=5\n", "# max_op_cache_size"),
    ("ranks_b.json", (TABLE % ("", "")).replace("device_ip", "device_|ip"), "# device_ip"),
    ("ranks_b.json", (TABLE % ("", "")).replace("10.0", "10|.0"), "# device_ip"),
    ("ops_info_b.json", '{"black-list": {"to-a|dd": ["Add"]}}', "# to-add"),
    ("plog.log", "[ERROR] HCCL(1): EI0|006 a socket\n", "# EI0006"),
    ("fusion_switch.cfg", '{"Sw|itch": {"GraphFusion": {}}}', "# Switch"),
    ("op_debug.cfg", "op_debug_config=dump_cce,oo|m\n", "# op_debug_config"),
    ("op_precision.ini", "[ByOpType]\nAdd=keep_|fp16\n", "# op_precision_mode"),
    ("dtypes.cfg", DTYPES.replace("float", "flo|at"), "# customize_dtypes"),
    ("insert_op.cfg", "aipp_op {\n  aipp_mode: sta|tic\n}\n", "# aipp_mode"),
]


@pytest.mark.parametrize(("name", "text", "page"), HOVERS)
def test_hover(editor, project, name, text, page):
    """The page of what is under the pointer."""
    path, position, *_ = opened(editor, project, name, text)
    shown = editor.hover(path, *position)
    assert (page is None) == (shown is None)
    assert shown is None or shown.startswith(page)


LINKS = [
    ("c.yaml", "version: 1\nmodify_mixlist: ops_info.json|\n", "ops_info.json"),
    ("c.toml", "version = 1\nmodify_mixlist = 'ops_info.json'|\n", "ops_info.json"),
    ("c.json", '{"version": 1, "modify_mixlist": "ops_info.json"}|', "ops_info.json"),
    ("s.pbtxt", PROTO % ("modify_mixlist", 's: "ops_info.json"|'), "ops_info.json"),
    ("s.py", SCRIPT.format("NpuConfig.load('conf/base.yaml')|"), "conf/base.yaml"),
    ("run.sh", "export RANK_TABLE_FILE=ranks.json|\n", "ranks.json"),
    ("job.json", '{"device_info": {"Index": 0}, "rank_table_file": "ranks.json"}|', "ranks.json"),
]


@pytest.mark.parametrize(("name", "text", "target"), LINKS)
def test_links_to_files(editor, project, name, text, target):
    """A name of a file that is there leads to it."""
    path, _, text, _ = opened(editor, project, name, text)
    (link,) = editor.ask("textDocument/documentLink", textDocument={"uri": uri(path)})
    assert uri(project / target) == link["target"]
    start, end = (link["range"][e]["character"] for e in ENDS)
    assert text.splitlines()[link["range"]["start"]["line"]][start:end] == target


def test_links_to_rules(editor, project):
    """A rule in a comment leads to its page."""
    text = "version: 1\nhcl_timeout: 1  # npu: ignore[NPU101, NPU102]|\n"
    path, *_ = opened(editor, project, "c.yaml", text)
    found = editor.ask("textDocument/documentLink", textDocument={"uri": uri(path)})
    assert [each["target"][-17:] for each in found] == ["rules/NPU101.html", "rules/NPU102.html"]


FIXED = [
    ("c.yaml", "version: 1\nhcl_timeout: 1|\n", "version: 1\nhccl_timeout: 1\n"),
    ("c.toml", "version = 1\nhcl_timeout = 1|\n", "version = 1\nhccl_timeout = 1\n"),
    ("c.json", '{"version": 1, "hcl_timeout": 1|}', '{"version": 1, "hccl_timeout": 1}'),
    ("s.pbtxt", PROTO % ("hcl_timeout|", "i: 1"), PROTO % ("hccl_timeout", "i: 1")),
    (
        "s.py",
        SCRIPT.format('custom_op.parameter_map["hcl_timeout"].i = 1|'),
        SCRIPT.format('custom_op.parameter_map["hccl_timeout"].i = 1'),
    ),
    (
        "ops_info_b.json",
        '{"black-list": {"to_add"|: ["Add"]}}',
        '{"black-list": {"to-add": ["Add"]}}',
    ),
    (
        "ranks_b.json",
        (TABLE % ("", "")).replace("rank_id", "rnak_id|"),
        TABLE % ("", ""),
    ),
    ("op_debug.cfg", "op_debug_config=oomm|\n", "op_debug_config=oom\n"),
    ("fusion_switch.cfg", '{"Swich"|: {"GraphFusion": {}}}', '{"Switch": {"GraphFusion": {}}}'),
    ("insert_op.cfg", "aipp_op {\n aipp_mode: statc|\n}\n", "aipp_op {\n aipp_mode: static\n}\n"),
    ("dtypes.cfg", DTYPES + DTYPES.replace("float", "flot|"), None),
    (
        "op_precision.ini",
        "[ByOpType]\nAdd=high_performanc|\n",
        "[ByOpType]\nAdd=high_performance\n",
    ),
]


@pytest.mark.parametrize(("name", "text", "expected"), FIXED)
def test_fix(editor, project, name, text, expected):
    """The fix of a finding, applied by the editor."""
    path, (line, _), text, _ = opened(editor, project, name, text)
    fixes = [each for each in editor.actions(path, line) if each.get("isPreferred")]
    fixed = [edited(text, each["edit"]["changes"][uri(path)]) for each in fixes]
    assert (expected or text.replace("flot\n", "float\n")) in fixed


IGNORED = [
    ("c.yaml", "version: 1\nhcl_timeout: 1  # old|\n"),
    ("c.yaml", "version: 1\nhcl_timeout: 1  # npu: ignore[NPU901]|\n"),
    ("c.toml", "version = 1\nhcl_timeout = 1|\n"),
    ("s.pbtxt", PROTO % ("hcl_timeout|", "i: 1")),
    ("s.py", SCRIPT.format('custom_op.parameter_map["hcl_timeout"].i = 1|')),
    ("s.py", SCRIPT.format('custom_op.parameter_map[\n    "hcl_timeout"|\n].i = 1')),
    ("s.py", SCRIPT.format('if True:\n    custom_op.parameter_map["hcl_timeout"].i = \\\n  1|')),
    ("run.sh", "export HCCL_CONNECT_TIMEOUT=5|\n"),
    ("op_precision.ini", "[ByOpType]\nAdd=high_performanc|\n"),
    ("insert_op.cfg", "aipp_op {\n  aipp_mode: statc|\n}\n"),
    ("op_cache.ini", "[op_compiler_cache]\nmax_op_cache_size=x|\nremain_cache_size_ratio=5\n"),
    ("op_debug.cfg", "op_debug_config=oomm|\n"),
]


@pytest.mark.parametrize(("name", "text"), IGNORED)
def test_ignore_here(editor, project, name, text):
    """The comment silences the finding, and no other."""
    path, (line, _), text, before = opened(editor, project, name, text)
    actions = [a for a in editor.actions(path, 0, 99) if a["title"].endswith(" here")]
    target = next(a for a in actions if a["title"].startswith(("NPU101", "NPU6", "NPU7")))
    after = edited(text, target["edit"]["changes"][uri(path)])
    rule = target["title"].partition(":")[0]
    left = editor.found(path, after)
    assert {d["code"] for d in before} - {rule} >= {d["code"] for d in left}
    assert line >= 0


UNCOMMENTED = [
    ("c.json", '{"version": 1, "hcl_timeout": 1|}'),
    ("ops_info_b.json", '{"black-list": {"to_add"|: ["Add"]}}'),
    ("ranks_b.json", (TABLE % ("", "")).replace("rank_id", "rnak_id|")),
    ("fusion_switch.cfg", "PoolingFusionPass:onn|\n"),
    ("dtypes.cfg", DTYPES + DTYPES.replace("float", "flot|")),
]


@pytest.mark.parametrize(("name", "text"), UNCOMMENTED)
def test_no_comment_where_there_are_none(editor, project, name, text):
    """Where no comment is possible none is offered."""
    path, _, _, found = opened(editor, project, name, text)
    titles = [each["title"] for each in editor.actions(path, 0, 99)]
    assert found
    assert [each for each in titles if each.endswith(" here")] == []
    assert [each for each in titles if each.endswith(": explain this rule")]


TABLES = {
    "completion": COMPLETIONS,
    "completion in a word": MIDDLE,
    "hover": HOVERS,
    "links": LINKS,
    "fix": FIXED,
    "ignore here": IGNORED,
}
KINDS = [
    "c.yaml", "c.toml", "c.json", "s.pbtxt", "s.py", "run.sh", "job.env", "job.json",
    "ranks_b.json", "ops_info_b.json", "fusion_switch.cfg", "op_precision.ini", "dtypes.cfg",
    "insert_op.cfg", "op_cache.ini", "op_debug.cfg",
]  # fmt: skip
"""A file of each kind, by the name that it has in the tables."""

NONE = {
    "links": (
        "names no file, or is not checked",
        {
            "job.env",
            "ranks_b.json",
            "ops_info_b.json",
            "fusion_switch.cfg",
            "op_precision.ini",
            "dtypes.cfg",
        }
        | {"insert_op.cfg", "op_cache.ini", "op_debug.cfg"},
    ),
    "fix": ("no rule about it has one", {"run.sh", "job.env", "job.json", "op_cache.ini"}),
    "ignore here": (
        "has no comments, or no findings",
        {"job.env", "job.json", *(name for name, _ in UNCOMMENTED)},
    ),
}
"""What a kind cannot have, and why."""


@pytest.mark.parametrize("feature", TABLES)
def test_every_feature_for_every_kind(feature):
    """The tables hold every feature for every kind of file that can have it, and no other."""
    tested = {row[0] for row in TABLES[feature]}
    _, impossible = NONE.get(feature, ("", set()))
    assert (set(KINDS) - tested, tested & impossible) == (impossible, set())


def test_explain(editor, project):
    """The page of the rule of a finding comes as the answer, and in a message."""
    path, (line, _), *_ = opened(editor, project, "c.yaml", "version: 1\nhcl_timeout: 1|\n")
    action = next(a for a in editor.actions(path, line) if a["title"].endswith("this rule"))
    command = action["command"]
    call = {"command": command["command"], "arguments": command["arguments"]}
    page = editor.ask("workspace/executeCommand", **call)
    assert page.startswith("# NPU101 unknown-option\n")
    editor.found(path, "version: 1\n")
    assert page in [note["params"]["message"] for note in editor.messages]


def test_explain_opens_a_document(project):
    """An editor that opens documents is asked to open the page."""
    shows = {"window": {"showDocument": {"support": True}}}
    with Client(project, capabilities=shows) as client:
        client.ask("workspace/executeCommand", command="npu-config.explain", arguments=["NPU101"])
        client.found(project / "c.yaml", "version: 1\n")
        (question,) = client.asked
        assert question["method"] == "window/showDocument"
        assert question["params"]["uri"].endswith("/NPU101.md")


def test_positions_are_units_of_utf_16(editor, project):
    """A sign beyond the first plane counts twice, before a finding and in a question."""
    text = 'version: 1\ndump: {"dump_path": "😀", hcl_timeout: 1}\n'
    found = editor.found(project / "c.yaml", text)
    at = text.splitlines()[1].index("hcl") + 1
    assert at in [each["range"]["start"]["character"] for each in found]
    actions = [a for a in editor.actions(project / "c.yaml", 1) if a.get("isPreferred")]
    fixes = [edited(text, a["edit"]["changes"][uri(project / "c.yaml")]) for a in actions]
    assert text.replace("hcl_", "hccl_") in fixes


def test_unsaved_text_of_another_file(editor, project):
    """A script is judged with the configuration as it stands in the editor, not as it is saved."""
    (project / "loaded.yaml").write_text("version: 1\n")
    script, loaded = project / "loads.py", project / "loaded.yaml"
    text = "import npu_config as npu\nconfig = npu.NpuConfig.load('loaded.yaml')\n"
    assert editor.found(script, text) == []
    assert editor.found(loaded, "version: 1\n") == []
    editor.change(loaded, "version: 1\nhcl_timeout: 5\n")
    found = editor.published(loaded, 2)
    assert [each["code"] for each in found] == ["NPU101"]
    editor.close(loaded)
    while editor.published(loaded):
        pass
    (project / "loaded.yaml").write_text("version: 1\ndump_mode: both\n")
    editor.tell("workspace/didChangeWatchedFiles", changes=[])
    assert [each["code"] for each in editor.published(loaded)] == ["NPU104"]
    del editor.versions[uri(loaded)]
    editor.close(script)
    assert editor.published(loaded) == []


def test_a_file_that_is_only_in_the_editor(editor, project):
    """A script whose configuration is not there is judged again when one is typed, unsaved."""
    script, loaded = project / "loads_typed.py", project / "typed_only.yaml"
    text = "import npu_config as npu\nconfig = npu.NpuConfig.load('typed_only.yaml')\n"
    assert [each["code"] for each in editor.found(script, text)] == ["NPU784"]
    editor.open(loaded, "version: 1\n")
    assert editor.published(script) == []
    for path in (script, loaded):
        editor.close(path)
        del editor.versions[uri(path)]


def test_a_file_in_a_folder_that_is_gone(tmp_path, monkeypatch):
    """A folder may be removed while it is open: its files are checked all the same."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    check = OpenFileChecker()
    gone.rmdir()
    path = str(gone / "c.yaml")
    answer = check({path: b"version: 1\nhcl_timeout: 1\n"}, path)
    assert [each.rule for each in answer.found] == ["NPU101"]


def test_a_side_file_that_is_open(editor, project, tmp_path):
    """On the training host the side file of a configuration counts as the editor has it."""
    (tmp_path / "pyproject.toml").write_text("[tool.npu-config]\non-host = true\n")
    (tmp_path / "ops_info.json").write_text('{"black-list": {"to-add": ["Add"]}}')
    text = "version: 1\nprecision_mode: allow_mix_precision\nmodify_mixlist: {}\n"
    config, mixlist = tmp_path / "npu.yaml", tmp_path / "ops_info.json"
    before = editor.found(config, text.format(mixlist))
    editor.open(mixlist, '{"black-list": {"to_add": ["Add"]}}')
    assert [each["code"] for each in editor.published(mixlist)] == ["NPU720"]
    assert "NPU720" not in [each["code"] for each in before]


def test_settings_of_the_project(editor, tmp_path):
    """What pyproject.toml ignores, excludes and says of the target holds, also unsaved."""
    (tmp_path / "sub").mkdir()
    table = '[tool.npu-config]\nignore = ["NPU105"]\nexclude = ["sub/"]\n'
    (tmp_path / "pyproject.toml").write_text(table)
    text = "version: 1\nhcl_timeout: 5\niterations_per_loop: 0\n"
    assert [each["code"] for each in editor.found(tmp_path / "npu.yaml", text)] == ["NPU101"]
    assert editor.found(tmp_path / "sub" / "npu.yaml", text) == []
    editor.found(tmp_path / "pyproject.toml", '[tool.npu-config]\nignore = ["NPU101"]\n')
    codes = [each["code"] for each in editor.published(tmp_path / "npu.yaml")]
    assert codes == ["NPU105"]


def test_a_file_that_is_not_saved_yet(editor, project):
    """A new file is checked under the name that it will have; a foreign one draws nothing."""
    found = editor.found(project / "new.yaml", "version: 1\nhcl_timeout: 5\n")
    assert [each["code"] for each in found] == ["NPU101"]
    assert editor.found(project / "new.json", '{"a": 1}') == []


TYPED = [
    ("k.yaml", "version: 1\nhcl_timeout: 1\n", '"version: 1\nhcl_timeout: 1\n', {"NPU702"}),
    ("k.yaml", "version: 1\nhcl_timeout: 1\n", "ver", {"NPU706"}),
    ("k.json", '{"version": 1, "hcl_timeout": 1}', '"version": 1}', {"NPU706", "NPU711"}),
    ("k.toml", "version = 1\nhcl_timeout = 1\n", "version = 1\nhccl_timeout", {"NPU702"}),
    ("ops_info_k.json", '{"black-list": {"to_add": []}}', '{"black-lis": {}}', {"NPU720"}),
    ("ranks_k.json", TABLE % ("", ', "x": 1'), '{"version": "1.0", "serve": []}', {"NPU641"}),
    ("k.py", SCRIPT.format("x"), "import tensorflow as tf\ncustom = (1\n", {"NPU830"}),
]


@pytest.mark.parametrize(("name", "whole", "broken", "codes"), TYPED)
def test_a_file_that_is_ours_stays_ours(editor, project, name, whole, broken, codes):
    """What was ours when it was opened is judged as if named while its text does not say so;
    emptied and refilled it has its findings again; another program's text draws nothing."""
    first = editor.found(project / name, whole)
    assert codes <= {each["code"] for each in editor.found(project / name, broken)}
    editor.found(project / name, "")
    assert first == editor.found(project / name, whole)
    if name.endswith(".yaml"):
        other = "services:\n  web: 1\nvolumes: 2\nnetworks: 3\nconfigs: 4\n"
        assert editor.found(project / name, other) == []
    editor.close(project / name)
    del editor.versions[uri(project / name)]
    while editor.published(project / name):
        pass
    assert editor.found(project / name, "ver") == []
    editor.close(project / name)
    editor.published(project / name)
    del editor.versions[uri(project / name)]


def test_many_changes_are_answered_once(editor, project):
    """Typing thirty signs is answered for the last one."""
    path = project / "typed.yaml"
    editor.found(path, "version: 1\n")
    before = editor.counts[uri(path)]
    for number in range(30):
        last = editor.change(path, "version: 1\nhccl_timeout: 1{}\n".format("0" * number))
    assert [each["code"] for each in editor.published(path, last)] == ["NPU105"]
    assert editor.counts[uri(path)] == before + 1


def test_language(project):
    """Messages, titles and pages are in the language of the editor, or in that of a setting."""
    text = "version: 1\nhcl_timeout: 5\n"
    for given in ({"locale": "zh-cn"}, {"initializationOptions": {"language": "zh"}}):
        with Client(project, **given) as client:
            (found,) = client.found(project / "c.yaml", text)
            assert "hccl_timeout" in found["message"]
            assert any("\u4e00" < sign < "\u9fff" for sign in found["message"])
            page = client.hover(project / "c.yaml", 1, 2)
            assert page is None
            titles = [each["title"] for each in client.actions(project / "c.yaml", 1)]
            assert any("\u4e00" < sign < "\u9fff" for sign in "".join(titles))
            assert client.end() == 0


# Bad input


def test_offsets_outside(editor, project):
    """A question about a place that is not in the text has an empty answer."""
    path, *_ = opened(editor, project, "c.yaml", "version: 1\n|")
    for place in ((99, 0), (0, 99), (1, 5), (2**31 - 1, 2**31 - 1)):
        assert editor.hover(path, *place) is None or place == (0, 99)
        editor.complete(path, *place)
        editor.actions(path, place[0])
    answer = editor.request(
        "textDocument/hover",
        {"textDocument": {"uri": uri(path)}, "position": {"line": -1, "character": -5}},
    )
    assert "error" in answer or answer["result"] is None


def test_questions_about_files_that_are_not_open(editor, project):
    """They have no answer, and do no harm."""
    for name in ("file:///nowhere.yaml", "untitled:1", "git:/x.yaml", "file:///a%00b", "%%%"):
        place = {"textDocument": {"uri": name}, "position": {"line": 0, "character": 0}}
        assert editor.request("textDocument/hover", place)["result"] is None
        editor.tell("textDocument/didClose", textDocument={"uri": name})
        editor.tell(
            "textDocument/didChange",
            textDocument={"uri": name, "version": 1},
            contentChanges=[{"text": "version: 1"}],
        )
    assert editor.found(project / "c.yaml", "version: 1\n") == []


def test_changes_of_ranges(editor, project):
    """An editor that sends parts, though the whole is asked for, is understood."""
    path = project / "c.yaml"
    editor.found(path, "version: 1\n# 😀\n")
    parts = [((1, 2), (1, 4), "x"), ((2, 0), (2, 0), "hcl_timeout: 5\n"), ((9, 0), (99, 9), "")]
    changes = [
        {"text": text, "range": dict(zip(ENDS, ({"line": a, "character": b} for a, b in place)))}
        for *place, text in parts
    ]
    editor.versions[uri(path)] += 1
    document = {"uri": uri(path), "version": editor.versions[uri(path)]}
    editor.tell("textDocument/didChange", textDocument=document, contentChanges=changes)
    (found,) = editor.published(path, document["version"])
    assert (found["code"], found["range"]["start"]) == ("NPU101", {"line": 2, "character": 0})


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffversion: 1\nhcl_timeout: 1\n",
        "version: 1\r\nhcl_timeout: 1\r\n",
        "version: 1\rhcl_timeout: 1\r",
    ],
)
def test_ends_of_lines_and_marks(editor, project, text):
    """A mark of the order of bytes, and other ends of lines: the right line, the fix in place."""
    (found,) = editor.found(project / "c.yaml", text)
    start = found["range"]["start"]
    assert (found["code"], start) == ("NPU101", {"line": 1, "character": 0})
    fix = next(a for a in editor.actions(project / "c.yaml", 1) if a.get("isPreferred"))
    after = edited(text, fix["edit"]["changes"][uri(project / "c.yaml")])
    assert after == text.replace("hcl_", "hccl_")


def test_half_a_surrogate(editor, project):
    """A text that no file can hold is a finding."""
    (found,) = editor.found(project / "c.yaml", "version: 1\nwork_path: \ud83d\n")
    assert "UTF-8" in found["message"]
    assert editor.hover(project / "c.yaml", 1, 5) is not None
    assert editor.found(project / "c.yaml", "version: 1\n") == []


def test_nonsense(project):
    """Messages that are none, unknown questions and wrong arguments: the server goes on."""
    with Client(project) as client:
        client.write(b"Content-Length: 5\r\n\r\n{oops")
        client.write(b"Content-Length: 2\r\n\r\n[]")
        client.tell("textDocument/didOpen", textDocument=5)
        client.tell("no/such/note", x=1)
        assert "error" in client.request("no/such/question", {})
        assert "error" in client.request("textDocument/hover", {"position": "x"})
        for arguments in ([], [5], [None], ["no such page"], ["a", "b"], [{"a": 1}]):
            call = {"command": "npu-config.explain", "arguments": arguments}
            assert client.request("workspace/executeCommand", call).get("result") is None
        found = client.found(project / "c.yaml", "version: 1\nhcl_timeout: 1\n")
        assert [each["code"] for each in found] == ["NPU101"]
        assert client.end() == 0


def test_a_large_file(editor, project):
    """Five million signs: said to be too large, or checked; questions are answered meanwhile."""
    large = "version: 1\nhccl_timeout: 5\n" + "# x\n" * 1250000
    editor.open(project / "large.yaml", large)
    path, position, *_ = opened(editor, project, "c.yaml", "version: 1\nhccl_|\n")
    assert editor.complete(path, *position)
    (found,) = editor.published(project / "large.yaml")
    assert "larger than" in found["message"]
    script = (
        "words = (\n" + "'word'\n" * 700000 + ")\ncustom_op.parameter_map['hcl_timeout'].i = 1\n"
    )
    editor.open(project / "large.py", script)
    assert editor.hover(project / "c.yaml", 1, 2) is None
    assert [each["code"] for each in editor.published(project / "large.py")] == ["NPU101"]
    for name in ("large.yaml", "large.py"):
        editor.close(project / name)


def test_many_open_files(editor, project):
    """What is typed is checked before a thousand files that were opened."""
    for number in range(1000):
        editor.open(project / "many" / "{}.yaml".format(number), "version: 1\n")
    found = editor.found(project / "c.yaml", "version: 1\nhcl_timeout: 1\n")
    assert [each["code"] for each in found] == ["NPU101"]
    for number in range(1000):
        editor.close(project / "many" / "{}.yaml".format(number))


def test_the_worker_ends(project):
    """A process that ends is told where it ended, and the next text is checked by another one."""
    with Client(project) as client:
        client.found(project / "c.yaml", "version: 1\n")
        (worker,) = children_of(client.process.pid)
        os.kill(worker, 9)
        found = client.found(project / "c.yaml", "version: 1\nhcl_timeout: 1\n")
        if [each["code"] for each in found] == ["NPU700"]:
            found = client.found(project / "c.yaml", "version: 1\nhcl_timeout: 2\n")
        assert [each["code"] for each in found] == ["NPU101"]
        assert [worker] != children_of(client.process.pid)
        assert client.end() == 0


def children_of(pid):
    """The processes that a process started."""
    path = "/proc/{0}/task/{0}/children".format(pid)
    if not os.path.exists(path):
        pytest.skip("the system does not list the children of a process")
    with open(path) as stream:
        return [int(word) for word in stream.read().split()]


def test_the_editor_ends(project):
    """A server whose editor is gone ends, and so does its worker."""
    with Client(project) as client:
        client.found(project / "c.yaml", "version: 1\n")
        (worker,) = children_of(client.process.pid)
        client.process.stdin.close()
        assert client.process.wait(60) in (0, 1)
        with pytest.raises(OSError, match="No such process"):
            os.kill(worker, 0)


def test_shutdown_without_exit(project):
    """A server that was shut down, and is not told to exit, ends when its editor is gone; the
    server of another editor in the same folder goes on."""
    with Client(project) as other, Client(project) as client:
        client.found(project / "c.yaml", "version: 1\n")
        client.ask("shutdown")
        client.tell("textDocument/didOpen", textDocument={"uri": uri(project / "d.yaml")})
        client.process.stdin.close()
        assert client.process.wait(60) == 0
        found = other.found(project / "c.yaml", "version: 1\nhcl_timeout: 1\n")
        assert [each["code"] for each in found] == ["NPU101"]


def test_no_folder(tmp_path):
    """Without a folder, or with one that is not there, files are checked all the same."""
    for root in (None, tmp_path / "nowhere"):
        with Client(root) as client:
            found = client.found(tmp_path / "c.yaml", "version: 1\nhcl_timeout: 1\n")
            assert [each["code"] for each in found] == ["NPU101"]


def test_a_folder_that_may_not_be_written(tmp_path):
    """Nothing is written there."""
    (tmp_path / "npu.yaml").write_text("version: 1\n")
    tmp_path.chmod(0o500)
    try:
        with Client(tmp_path) as client:
            found = client.found(tmp_path / "npu.yaml", "version: 1\nhcl_timeout: 1\n")
            assert [each["code"] for each in found] == ["NPU101"]
            client.ask(
                "workspace/executeCommand", command="npu-config.explain", arguments=["NPU101"]
            )
    finally:
        tmp_path.chmod(0o700)
    assert [each.name for each in tmp_path.iterdir()] == ["npu.yaml"]


def test_without_pygls(tmp_path):
    """The command says what to install."""
    program = (
        "import sys; sys.modules['pygls'] = None\n"
        "from npu_config.__main__ import main; sys.exit(main(['lsp']))"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT) if (ROOT / "npu_config").exists() else ""}
    ended = subprocess.run(
        [sys.executable, "-c", program],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environ,
        cwd=str(tmp_path),
    )
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b'pip install "npu_config[lsp]"' in ended.stderr
