"""A path given for a text, a text for a path, and neither where a mapping is expected."""

import io
import os
import pathlib

import pytest

import npu_config as npu
from npu_config import cluster, dumps, rank_table, sidefiles
from npu_config.core.diagnostics import NpuConfigError
from npu_config.readers import read
from npu_config.runner.script import CannotRunError

TEXT = "version: 1\noptions:\n  precision_mode: allow_mix_precision\n"
TAKE_PATHS = {
    "load": npu.NpuConfig.load,
    "check": lambda path: _raised(npu.check(path)),
    "read": lambda path: _raised(read(path).diagnostics),
    "diagnose": npu.diagnose,
    "rank_table.load": lambda path: _raised(rank_table.load(path).diagnostics),
    "fusion_switch.load": lambda path: _raised(sidefiles.fusion_switch.load(path).diagnostics),
    "read_dump": dumps.read_dump,
    "open_dump": lambda path: _raised(dumps.open_dump(path).diagnostics),
    "find_dumps": dumps.find_dumps,
    "read_overflow": dumps.read_overflow,
    "read_ge_graph": dumps.read_ge_graph,
    "read_result": dumps.read_result,
    "read_statistics": dumps.read_statistics,
    "explain_overflows": dumps.explain_overflows,
    "compare_dumps": lambda path: dumps.compare_dumps(path, path),
}
NO_PATHS = [b"a.yaml", io.StringIO(TEXT), 1, None, ["a.yaml"]]
PARSE = {
    "rank_table": lambda text: rank_table.parse(text).diagnostics,
    "mixlist": lambda text: sidefiles.mixlist.parse(text).diagnostics,
    "fusion_switch": lambda text: sidefiles.fusion_switch.parse(text).diagnostics,
    "dotenv": lambda text: cluster.parse_dotenv(text).diagnostics,
    "hccn": lambda text: cluster.parse_hccn(text).diagnostics,
}


def _raised(found):
    raise NpuConfigError(found)


@pytest.mark.parametrize("name", TAKE_PATHS)
@pytest.mark.parametrize("text", [TEXT, '{"version": "1.0"}'])
def test_a_text_in_the_place_of_a_path(name, text):
    """Whatever reads a file says that it was given the content of one, and what to give."""
    with pytest.raises(NpuConfigError) as raised:
        TAKE_PATHS[name](text)
    (found,) = raised.value.diagnostics
    assert found.message.startswith("expected the path of a file, but ")
    assert found.help == "pass the path of a file with this content"
    assert found.path is None


def test_the_text_of_a_script_is_not_run():
    """run_path says that it takes the path of a script."""
    with pytest.raises(CannotRunError, match="expected the path of a script, but got its text"):
        npu.run_path("import os\nprint(1)\n")


@pytest.mark.parametrize("name", sorted(set(TAKE_PATHS) - {"check", "diagnose"}))
@pytest.mark.parametrize(
    "value",
    [b"a.yaml", io.StringIO(TEXT), 1, None, ["a.yaml"]],
    ids=lambda value: type(value).__name__,
)
def test_neither_text_nor_path(name, value):
    """Whatever reads a file names the type of what is no path."""
    with pytest.raises(TypeError, match=r"expected a path, as a string or pathlib.Path, got "):
        TAKE_PATHS[name](value)


@pytest.mark.parametrize("given", [str, pathlib.Path, os.fsencode, lambda _: "no_such.py"])
def test_migrate_takes_no_path(tmp_path, given):
    """migrate says that it takes the text of a script, and how to get it from a path."""
    script = tmp_path / "train.py"
    script.write_text("import tensorflow as tf\nsess = tf.Session()\n")
    value = given(script)
    error = TypeError if isinstance(value, pathlib.Path) else ValueError
    with pytest.raises(error, match=r"migrate takes a script as text or bytes: open\("):
        npu.migrate(value)


@pytest.mark.parametrize("text", ["", "x", "import train.py", "f('a.py')", "x = 'a.py'", "."])
def test_a_short_script_is_no_path(text):
    """A script of one line is migrated, and not taken for a path."""
    assert text == npu.migrate(text).text


@pytest.mark.parametrize("name", PARSE)
def test_a_path_in_the_place_of_a_text(tmp_path, name):
    """Whatever parses a text says that it was given the path of a file, and what reads one."""
    file = tmp_path / "some.json"
    file.write_text("{}")
    (found,) = PARSE[name](str(file))
    assert found.message.endswith(" is the path of a file; pass the text of the file")
    assert found.help is not None
    assert found.help.endswith(" reads a file")
    with pytest.raises(TypeError, match=r"expected the text of a file, got .*; for a path: "):
        PARSE[name](file)


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (npu.NpuConfig, "options"),
        (npu.NpuConfig.from_dict, "options"),
        (npu.NpuConfigBuilder().update, "options"),
        (cluster.check_environment, "environ"),
        (cluster.check_host, "environ"),
        (cluster.check_job, "environs"),
        (lambda value: cluster.check_job({"rank 0": value}), r"environs\['rank 0'\]"),
    ],
)
@pytest.mark.parametrize("value", ["config.yaml", TEXT, None])
def test_no_mapping(call, what, value):
    """What takes a mapping says so, and where one comes from."""
    with pytest.raises(TypeError, match=what + " must be a mapping of name to value, not "):
        call(value)


@pytest.mark.parametrize("value", ["job.json", rank_table.parse("{}"), {"version": "1.0"}])
def test_no_rank_table(value):
    """What takes a rank table says what gives one."""
    for call in (
        lambda: cluster.table_job(value, "/etc/rank_table.json", "job"),
        lambda: rank_table.render(value),
        lambda: rank_table.check(value),
    ):
        with pytest.raises(TypeError, match=r"expected a rank table, got .*; load\(path\)"):
            call()


def test_no_config_proto():
    """from_config_proto says what it takes."""
    with pytest.raises(TypeError, match=r"a ConfigProto is expected, got str; NpuConfig.load"):
        npu.NpuConfig.from_config_proto("config.pbtxt")
