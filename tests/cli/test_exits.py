"""Exit codes: one table for all commands, and no traceback whatever the surroundings are."""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys

import click
import pytest

from npu_config import rank_table
from npu_config.cli import _run
from npu_config.cli._output import EXIT_CODES
from npu_config.cli.app import app
from tests.cli.conftest import GOOD
from tests.dumps.dump_writer import dump, operator, step_folder, tensor
from tests.forks import ends_of
from tests.fuzz.seeds import SEEDS

GRAPH = """
node { name: "a" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
"""
CSV = """\
Op Name,OP Type,Task Type,Task Duration(us),Block Dim,Input Shapes,Input Data Types
a/Sum,ReduceSum,AI_CORE,1500.5,1,"8,8",FLOAT16;INT32
"""
LOG = "".join("step {} loss scale 1024\n".format(step) for step in range(5))

RIGHT = {
    "check": "check IN.yaml",
    "migrate": "migrate IN.py",
    "generate": "generate IN.yaml --to json",
    "compat": "compat IN.yaml",
    "explain": "explain dump_step",
    "init": "init",
    "schema": "schema",
    "show": "show IN.yaml",
    "diff": "diff IN.yaml good.yaml",
    "mixlist build": "mixlist build --black ReduceSum",
    "mixlist check": "mixlist check IN.mixlist",
    "ranktable build": "ranktable build --server a --device-ips 10.0.0.1 --target atlas_training",
    "ranktable check": "ranktable check IN.table.json",
    "ranktable convert": "ranktable convert IN.table.json --to 1.0",
    "env": "env --rank-table IN.table.json --job-id job --rank 0",
    "env --check": "env --check IN.env",
    "format": "format IN.mixlist",
    "diagnose": "diagnose IN.pbtxt",
    "op-summary": "op-summary IN.csv",
    "fusion-result": "fusion-result IN.fusion",
    "loss-scale": "loss-scale IN.log",
    "log": "log IN.log",
    "doctor": "doctor IN.yaml",
    "dump list": "dump list IN.dumps",
    "dump show": "dump show IN.dump",
    "dump export": "dump export IN.dumps export",
    "dump compare": "dump compare IN.dumps reference",
    "dump overflow": "dump overflow IN.dumps",
    "dump scan": "dump scan IN.dumps",
    "dump search": "dump search state --config IN.yaml --type Exp",
    "dump result": "dump result IN.result",
    "ranktable merge": "ranktable merge IN.table.json",
    "ranktable show": "ranktable show IN.table.json",
    "run": "run IN.program",
    "tfdbg-export": "tfdbg-export IN.tfdbg tensors",
    "lsp": "lsp" if importlib.util.find_spec("pygls") else "lsp --help",
}
"""A right call of each command; ``IN.*`` is its input."""

OUTPUTS = {
    "check": "check good.yaml --write-baseline OUT",
    "generate": "generate good.yaml --to json -o OUT",
    "init": "init -o OUT",
    "schema": "schema -o OUT",
    "mixlist build": "mixlist build --black ReduceSum -o OUT",
    "ranktable build": RIGHT["ranktable build"] + " -o OUT",
    "ranktable convert": "ranktable convert IN.table.json --to 1.0 -o OUT",
    "env": "env --rank-table IN.table.json --job-id job --rank 0 -o OUT",
    "op-summary": "op-summary IN.csv --write-mixlist OUT",
    "diagnose": "diagnose IN.pbtxt --config good.yaml -o OUT.yaml",
    "dump overflow": "dump overflow IN.dumps --html OUT",
    "dump scan": "dump scan IN.dumps --json OUT",
    "dump compare": "dump compare IN.dumps reference --csv OUT",
    "ranktable merge": "ranktable merge IN.table.json -o OUT",
}
"""A call of each command that writes a file."""

WITH_INPUT = sorted(name for name, call in RIGHT.items() if "IN." in call)

INPUTS = {
    **{name: RIGHT[name] for name in WITH_INPUT},
    "check script": "check IN.py",
    "check table": "check IN.table.json",
    "check --baseline": "check good.yaml --baseline IN.baseline",
    "compat script": "compat IN.py",
    "diagnose --config": "diagnose good.pbtxt --config IN.yaml",
    "diff, the second": "diff good.yaml IN.yaml",
    "dump compare, the reference": "dump compare reference IN.dumps",
    "generate script": "generate IN.py --to yaml",
    "log --config": "log good.log --config IN.yaml",
    "run --dry-run": "run --dry-run IN.program",
    "show script": "show IN.py",
}
"""A call of each command with each kind of input."""

WALKS = ("check", "check script", "check table", "compat", "compat script", "migrate")
"""What goes through directories, where an empty one is a warning."""

MAY_BE_EMPTY = (
    *WALKS, "doctor", "diagnose --config", "dump search", "env --check", "generate",
    "log --config", "run", "run --dry-run", "show", "show script",
)  # fmt: skip
"""What takes an empty input as one that sets nothing, and says so."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A directory with right inputs of every kind."""
    table = rank_table.build(["a"], 1, "10.0.0.1", "atlas_training")
    for name, text in {
        "IN.yaml": GOOD,
        "IN.py": "import tensorflow as tf\nwith tf.Session() as sess:\n    pass\n",
        "good.yaml": GOOD,
        "IN.mixlist": '{\n  "black-list": {\n    "to-add": ["ReduceSum"]\n  }\n}\n',
        "IN.table.json": rank_table.render(table),
        "IN.env": "JOB_ID=job\nRANK_ID=0\nRANK_SIZE=1\nRANK_TABLE_FILE=/t.json\n",
        "IN.pbtxt": GRAPH,
        "IN.csv": CSV,
        "IN.fusion": '[{"session_and_graph_id_0_0": {"graph_fusion": {}, "ub_fusion": {}}}]',
        "IN.log": LOG,
        "IN.baseline": '{"version": 1, "findings": []}',
        "good.pbtxt": GRAPH,
        "good.log": LOG,
        "IN.result": "LeftOp,RightOp,TensorIndex,CosineSimilarity\na,a,a:output:0,1.0\n",
    }.items():
        (tmp_path / name).write_text(text)
    for name in ("IN.dumps", "reference"):
        operator(step_folder(tmp_path / name), "a", [tensor("output", bytes(8), (2,))])
    (tmp_path / "IN.dump").write_bytes(dump("a", [tensor("output", bytes(8), (2,))]))
    debugged = tmp_path / "IN.tfdbg" / "run_1_0" / "_tfdbg_device_,a" / "a_0_DebugIdentity_1"
    debugged.parent.mkdir(parents=True)
    debugged.write_bytes(SEEDS["tfdbg"].of(0))
    (tmp_path / "IN.program").write_text("print('done')\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def leaves(command=app, path=(), groups=True):
    """Every command and subcommand, with the words that call it."""
    names = command.list_commands(None) if isinstance(command, click.Group) else ()
    for name in names:
        yield from leaves(command.get_command(None, name), (*path, name), groups)
    if path and (groups or not names):
        yield path


def test_the_table_has_every_code():
    """The codes of the contract, each with its meaning."""
    assert sorted(EXIT_CODES) == [0, 1, 2, 130]


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_right_calls(npu, folder, name):
    """0, and nothing on standard error that looks like a fault."""
    result = npu(*shlex.split(RIGHT[name]))
    assert (result.code, "rror" in result.err) == (0, False), result


@pytest.mark.parametrize("name", WITH_INPUT)
def test_a_path_that_does_not_exist(npu, folder, name):
    """2, and the path is named."""
    call = RIGHT[name].replace("IN.", "nowhere.")
    result = npu(*shlex.split(call))
    assert result.code == 2, result
    assert "nowhere." in result.out + result.err


@pytest.mark.parametrize("name", sorted(INPUTS))
def test_a_file_that_cannot_be_read(npu, folder, name):
    """1, and the path is named; an empty directory holds nothing that is wrong."""
    call = shlex.split(INPUTS[name])
    (path,) = [folder / word for word in call if word.startswith("IN.")]
    for put in (_bytes, _zeros, _directory, _unreadable):
        if put is _unreadable and (path.is_dir() or not os.path.exists("/proc/self/mem")):
            continue
        _remove(path)
        put(path)
        result = npu(*call)
        expected = 0 if put is _directory and name in WALKS else 1
        assert (put.__name__, result.code) == (put.__name__, expected), result
        assert path.name in result.out + result.err
        _remove(path)


@pytest.mark.parametrize("name", sorted(INPUTS))
def test_an_empty_file(npu, folder, name):
    """0 where nothing is a right input, too; else 1, and what is missing is said."""
    call = shlex.split(INPUTS[name])
    (path,) = [folder / word for word in call if word.startswith("IN.")]
    if path.is_dir():
        _remove(path)
        path.mkdir()
    else:
        path.write_bytes(b"")
    result = npu(*call)
    assert result.code == (0 if name in MAY_BE_EMPTY else 1), result
    assert result.out + result.err != ""


def _bytes(path):
    path.write_bytes(b"\xff\xfe\x00\x9f\n" * 10)


def _zeros(path):
    path.write_bytes(bytes(100))


def _directory(path):
    if path.name in ("IN.dumps", "IN.tfdbg"):
        path.write_bytes(b"x")
    else:
        path.mkdir()


def _unreadable(path):
    """A file that opens and cannot be read, whoever the user is."""
    path.symlink_to("/proc/self/mem")


def _remove(path):
    if path.is_dir():
        shutil.rmtree(str(path))
    elif os.path.lexists(str(path)):
        path.unlink()


WRONG_VALUES = """
check IN.yaml --target atlas_a9
check IN.yaml --target-cann nine
check IN.yaml --set hccl_timeout
check IN.yaml --set hccl_timout=1
check IN.yaml --select NPU99999
check IN.yaml --format xml
check IN.yaml --as pdf
compat IN.yaml --cann nine
generate IN.yaml --to ini
show IN.yaml --target atlas_a9
ranktable build --server a --server a --device-ips 10.0.0.1
ranktable build --server a --device-ips 10.0.0.300
ranktable build --server a --devices 2 --device-ips 10.0.0.1,10.0.0.2,10.0.0.3
ranktable build --server a --devices none --device-ips 10.0.0.1
ranktable build --server a --device-ips 10.0.0.1 --device-port 0
ranktable convert IN.table.json --to 9.9
env --rank-table IN.table.json --job-id job --rank x
env --rank-table IN.table.json --job-id job --rank 9
env --rank-table IN.table.json --job-id job --server b
env --worker 10.0.0.1 --worker 10.0.0.1 --job-id job
env --worker 10.0.0.1 --job-id job --port 0
op-summary IN.csv --top -1
dump list IN.dumps --limit -1
dump show IN.dump --bins -1
dump scan IN.dumps --step -1
dump scan IN.dumps --limit -1
dump compare IN.dumps reference --device -1
dump compare IN.dumps reference --threshold 2
mixlist build --black a-b
run --ranks 0 IN.program
run --steps -1 IN.program
""".strip().split("\n")


@pytest.mark.parametrize("call", WRONG_VALUES)
def test_a_value_that_an_option_does_not_take(npu, folder, call):
    """2, and nothing is printed but why."""
    result = npu(*shlex.split(call))
    assert (result.code, result.out) == (2, ""), result


@pytest.mark.parametrize("path", sorted(set(leaves())), ids=" ".join)
def test_an_unknown_option(npu, path):
    """2, on one line after the usage."""
    result = npu(*path, "--no-such-option")
    assert (result.code, result.out) == (2, "")
    assert "no-such-option" in result.err.splitlines()[-1]


@pytest.mark.parametrize("name", sorted(OUTPUTS))
def test_an_output_that_exists(npu, folder, name):
    """2, and it stays as it is; with --force it is written."""
    (out,) = [folder / word for word in OUTPUTS[name].split() if word.startswith("OUT")]
    out.write_text("mine")
    result = npu(*shlex.split(OUTPUTS[name]))
    assert (result.code, out.read_text()) == (2, "mine"), result
    assert "--force" in result.err
    assert npu(*shlex.split(OUTPUTS[name]), "--force").code == 0
    assert out.read_text() != "mine"


@pytest.mark.parametrize("name", sorted(OUTPUTS))
def test_an_output_that_cannot_be_written(npu, folder, name):
    """2, and it is named."""
    result = npu(*shlex.split(OUTPUTS[name].replace("OUT", "nowhere/OUT")))
    assert result.code == 2, result
    assert re.search(r"nowhere/OUT\S* cannot be written", result.err)


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_an_interrupt(npu, folder, name, monkeypatch):
    """130."""

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(click.Context, "invoke", interrupt)
    monkeypatch.setattr(_run, "run", interrupt)
    assert npu(*shlex.split(RIGHT[name])).code == 130


def test_every_command_is_in_the_tables():
    """A new command says how it is called."""
    assert {" ".join(path) for path in leaves(groups=False)} == set(RIGHT) - {"env --check"}


@pytest.mark.parametrize("group", ["mixlist", "ranktable", "dump"])
def test_a_group_names_its_commands(npu, group):
    """An unknown command of a group is answered with those that there are, or the near one."""
    result = npu(group, "base.yaml")
    assert result.code == 2
    assert 'there is no command "base.yaml"; legal: ' in result.err
    assert " check" in result.err or "scan" in result.err


@pytest.mark.parametrize(
    "path", [(), *sorted(set(leaves()) - set(leaves(groups=False)))], ids=" ".join
)
def test_a_group_without_a_command(npu, path):
    """2, and the help as it is, line by line, on standard error."""
    result = npu(*path)
    asked = npu(*path, "--help")
    assert (result.code, result.out) == (2, "")
    assert result.err == asked.out
    assert len(result.err.splitlines()) > 5


def run(call, folder, shell):
    """A process of its own, in a shell that changes its surroundings."""
    command = shell.format("{} -m npu_config {}".format(shlex.quote(sys.executable), call))
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    paths = [root, os.environ.get("PYTHONPATH", "")]
    environ = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, paths)))
    return subprocess.run(
        ["sh", "-c", command],
        capture_output=True,
        cwd=str(folder),
        env=environ,
    )


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_behind_the_output(folder):
    """2, with one line that says so."""
    calls = {name: RIGHT[name] for name in sorted(set(RIGHT) - {"format", "diff", "lsp", "run"})}
    ends = ends_of(calls, folder, "{} > /dev/full")
    assert list(calls) == list(ends)
    for name, (code, said) in ends.items():
        assert (name, code) == (name, 2)
        assert "cannot be written" in said, name
        assert "Traceback" not in said, name
        assert "Exception ignored" not in said, name


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    ["check -", "generate - --to json", "diff - good.yaml", "format -", "ranktable check -"],
)
def test_closed_standard_input(folder, call):
    """2: there is nothing to read."""
    done = run(call, folder, "{} <&-")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Error: standard input" in done.stderr


@pytest.mark.slow
def test_closed_streams(folder):
    """No traceback where output has nowhere to go."""
    ends = ends_of(RIGHT, folder, "{} >&- 2>&-")
    assert list(RIGHT) == list(ends)
    assert {name: code for name, (code, _) in ends.items() if code not in (0, 2)} == {}


@pytest.mark.parametrize("words", ["--help", "--version", "check --help"])
def test_help_where_output_is_closed(folder, words):
    """What click itself writes goes nowhere, and is no fault."""
    done = run(words, folder, "{} >&-")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
def test_a_working_directory_that_was_deleted(folder):
    """2, and help is still to be had."""
    gone = "mkdir gone; cd gone; rmdir ../gone; {} > ../written"
    ends = ends_of({**RIGHT, "help": "--help"}, folder, gone)
    assert ends.pop("help") == [0, ""]
    assert list(RIGHT) == list(ends)
    for name, (code, said) in ends.items():
        assert (name, code) == (name, 2)
        assert "the working directory does not exist any more" in said, name
    assert (folder / "written").read_text().startswith("Usage: ")


@pytest.mark.slow
def test_a_reader_that_goes(folder):
    """A closed pipe is no traceback."""
    done = run("init", folder, "{} | head -1")
    assert (done.returncode, done.stderr) == (0, b"")
