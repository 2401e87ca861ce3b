"""What files and arguments can write to a terminal or a CI log: nothing."""

import ast
import re

import pytest

from npu_config.cli._output import deliver, say
from tests.package_trees import modules

EVIL = "\x1b]0;owned\x07\n::error::pwn\n"
RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]|^\s*::|##\[", re.MULTILINE)


def assert_harmless(result):
    """Nothing that a terminal or a CI system acts on."""
    assert RAW.search(result.out) is None, result
    assert RAW.search(result.err) is None, result


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", EVIL),
        ("check", "--format=json", EVIL),
        ("check", "--select", EVIL, "."),
        ("check", "--no-" + EVIL, "."),
        (EVIL,),
        ("explain", EVIL),
        ("generate", EVIL, "--to", "json"),
        ("generate", "x.yaml", "--to", EVIL),
        ("diff", EVIL, EVIL),
        ("mixlist", "build", "--black", EVIL),
        ("format", EVIL),
        ("doctor", EVIL),
        ("diagnose", EVIL),
        ("op-summary", EVIL),
        ("fusion-result", EVIL),
        ("loss-scale", EVIL),
        ("env", "--check", EVIL),
        ("env", "--rank-table", EVIL),
        ("ranktable", "check", EVIL),
        ("tfdbg-export", EVIL, "x"),
        ("dump", "list", EVIL),
        ("dump", "show", EVIL),
        ("dump", "compare", EVIL, EVIL),
    ],
    ids=lambda arguments: arguments[0][:12],
)
def test_arguments(npu, arguments):
    """A wrong argument is shown on one line, escaped."""
    result = npu(*arguments)
    assert result.code == 2
    assert_harmless(result)


def test_a_project_file(npu, good):
    """The finding of the attack: a baseline with a line end in its name."""
    good.with_name("pyproject.toml").write_text(
        '[tool.npu-config]\nbaseline = "x\\n::error::pwn"\n'
    )
    result = npu("check", good)
    assert result.code == 2
    assert_harmless(result)
    assert len(result.err.splitlines()) == 1


def test_names_of_files(npu, tmp_path):
    """Control characters in them are shown."""
    path = tmp_path / "a\x1b[31m\n::warning::x.yaml"
    path.write_text("version: 1\nhcl_timeout: 1\n")
    for format_ in ("text", "json", "sarif"):
        assert_harmless(npu("check", path, "--format", format_))
    assert_harmless(npu("check", "--diff", path))
    assert_harmless(npu("check", "--fix", path))


def test_annotations(npu, tmp_path):
    """Only our own workflow commands, one a line, without a control character."""
    path = tmp_path / "x.yaml"
    path.write_text('version: 1\n"a\\e[31m\\n::error::pwn": 1\n')
    out = npu("check", path, "--format", "github").out
    assert "\x1b" not in out
    assert [line[:8] for line in out.splitlines() if "::" in line] == ["::error "]


def test_a_diff(npu, tmp_path):
    """What surrounds a fix is not acted on either."""
    path = tmp_path / "x.py"
    path.write_text(
        "from npu_bridge.npu_init import *\n"
        "config = tf.ConfigProto()\n"
        "op = config.graph_options.rewrite_options.custom_optimizers.add()\n"
        'op.name = "NpuOptimizer"\n'
        'op.parameter_map["hcom_paralel"].b = True\n# \x1b[31m\n"""\n::error::x\n"""\n'
        "tf.Session(config=config)\n"
    )
    result = npu("check", path, "--diff")
    assert '+op.parameter_map["hcom_parallel"].b = True\n' in result.out
    assert_harmless(result)


def test_tables(npu, tmp_path):
    """Names of passes and operators."""
    fusion = tmp_path / "fusion.json"
    fusion.write_text(
        '[{"session_and_graph_id_0_0": {"graph_fusion": {"\\u001b[31m\\n::error::x": '
        '{"match_times": "1", "effect_times": "1"}}, "ub_fusion": {}}}]'
    )
    assert_harmless(npu("fusion-result", fusion))
    table = tmp_path / "op_summary.csv"
    table.write_text(
        "Op Name,OP Type,Task Type,Task Duration(us),Block Dim,Input Shapes,Input Data Types\n"
        '"a\x1b[31m\n::error::x",ReduceSum,AI_CORE,1500.5,1,"8,8",FLOAT16\n'
    )
    assert_harmless(npu("op-summary", table))


def test_a_checkup(npu, tmp_path):
    """Values of options in the reasons of the doctor."""
    path = tmp_path / "x.yaml"
    path.write_text('version: 1\nprecision_mode: "\\e[31m\\n::error::x"\n')
    assert_harmless(npu("doctor", path))


def test_data_for_a_pipe_is_exact(capsysbinary):
    """What was asked for is not changed on its way to a file or another program."""
    deliver("a\x1b[0m\n::x\n", None, False)
    say("a\x1b[0m\n::x\n")
    assert capsysbinary.readouterr().out == b"a\x1b[0m\n::x\na\\x1b[0m\n\\x3a:x\n"


PRINTS = {
    "cli/_output.py": "the one way out",
    "cli/explain.py": "rich, with our own documentation, on a terminal",
    "launch/pod.py": "runs in pods, without this package",
    "runner/script.py": "the code of a SystemExit, as Python prints it",
}
"""Module that prints by itself, and why."""


def prints(nodes):
    """Whether a module prints, or writes to a stream of the process."""
    for node in nodes:
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if isinstance(node.func, ast.Name) and node.func.id == "print":
                return True
            if name in ("echo", "secho", "print", "echo_via_pager"):
                return True
            if name in ("write", "writelines") and "std" in ast.dump(node.func):
                return True
    return False


def test_one_way_out():
    """No other module prints: what is printed is escaped in one place."""
    found = {module.name for module in modules() if prints(module.nodes)}
    assert sorted(found) == sorted(PRINTS)
