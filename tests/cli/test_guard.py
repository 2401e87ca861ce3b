"""One file that no reader survives costs no finding in another file, and no command its answer."""

import importlib
import shlex

import pytest

from npu_config.cli import schema
from tests import golden
from tests.cli.test_exits import folder
from tests.fuzz.seeds import SEEDS

__all__ = ["folder"]

RECORD = SEEDS["overflow-record"].head

WRONG = "version: 1\nprecision_modee: allow_mix_precision\n"
HEAD = b"from npu_bridge.npu_init import *\n"
HOSTILE = {
    # tokenize of Python 3.12 and 3.13 raises SystemError
    "nul.py": b'""\n )#npu:ignore\n\x00',
    "nul_inside.py": HEAD + b'x = """a\n# npu: ignore[NPU101]\n\x00"""\n)\n',
    "dedent.py": HEAD + b"if x:\n        a = 1  # npu: ignore\n    b = 2\n",
    "not_closed.py": HEAD + b"f(  # npu: ignore[NPU1]\n",
    "text_not_closed.py": HEAD + b'"""  # npu: ignore[NPU1]\n',
    "form_feed.py": HEAD + b"\x0cif x:\n\x0c\t  a  # npu: ignore\n \x0c b\n",
    "surrogates.py": b"# coding: raw_unicode_escape\n" + HEAD + b"a = '\\ud800'  # npu: ignore\n",
    "utf7.py": b"# coding: utf-7\n" + HEAD + b"a = '+2AA-'  # npu: ignore\n",
    "punycode.py": b"# coding: punycode\n" + HEAD + b"# npu: ignore-\xff\n",
    "number.py": HEAD + b"x = " + b"1" * 5000 + b"  # npu: ignore\n",
    "deep.py": HEAD + b"x = " + b"(" * 3000 + b")" * 3000 + b"  # npu: ignore\n",
    "minus.py": HEAD + b"x = " + b"-" * 20000 + b"1  # npu: ignore\n",
    "number.yaml": b"version: 1\nhccl_timeout: " + b"1" * 5000 + b"\n",
    "year.yaml": b"version: 1\nhccl_timeout: 99999-99-99\n",
    "base60.yaml": b"version: 1\nhccl_timeout: " + b"1:" * 3000 + b"1\n",
    "deep.yaml": b"version: 1\nx: " + b"[" * 5000 + b"]" * 5000 + b"\n",
    "number.toml": b"version = 1\nhccl_timeout = " + b"1" * 5000 + b"\n",
    "deep.toml": b"version = 1\nx = " + b"[" * 5000 + b"]" * 5000 + b"\n",
    "number.json": b'{"version": 1, "hccl_timeout": ' + b"1" * 5000 + b"}\n",
    "deep.json": b'{"version": 1, "server_list": ' + b"[" * 50000 + b"]" * 50000 + b"}\n",
    "surrogate.json": b'{"version": 1, "hccl_timeout": "\\ud800"}\n',
    "half.json": b"{'bl\\ud800ck-list': {\"to-add\": ['A\\ud800', \"B\\q\\ud800\"]}}\n",
    "latin.sh": b"#!/bin/bash\nexport RANK_ID=\xff\xfe  # npu: ignore\n",
    "nul.sh": b"#!/bin/bash\nexport RANK_ID=0\x00  # npu: ignore\n",
    "digit.sh": "#!/bin/bash\nexport RANK_ID=\u00b2 RANK_SIZE=\u00b2\nA=\u00b2\n((A++))\n"
    "for i in $(seq \u00b2); do python3 x.py; done\n".encode(),
    "digit.py": HEAD
    + "c = NPURunConfig(session_device_id='\u00b2', hcom_parallel='\u00b2')\n"
    "with limit_core_num_scope('\u00b2'):\n    pass\n".encode(),
    "digit.yaml": "version: 1\nhccl_timeout: \u00b2\ndump_step: \u00b2|\u0663\n".encode(),
    "digit.json": '{"version": "1.0", "server_count": "\u00b2", "server_list": [{"device": '
    '[{"rank_id": "\u00b2", "device_id": "\u0663"}]}]}'.encode(),
    "number.pbtxt": b"graph_options { rewrite_options { custom_optimizers { name: 'NpuOptimizer' "
    b"parameter_map { key: 'x' value { i: " + b"1" * 5000 + b" } } } } }\n",
}


READ = (
    "check {} {}",
    "check --fix {} {}",
    "check --if-ours --format sarif {} {}",
    "migrate {} {}",
    "compat {} {}",
    "doctor {}",
    "generate {} --to yaml",
    "diff {} {}",
    "format {}",
)
"""What reads scripts or configurations; on the oldest Python each file gets a check and two
others."""


@pytest.fixture
def hostile(tmp_path):
    """A directory with every hostile file, and one that is wrong in a plain way."""
    (tmp_path / "tree").mkdir()
    for name, content in HOSTILE.items():
        (tmp_path / "tree" / name).write_bytes(content)
    (tmp_path / "tree" / "zz.yaml").write_text(WRONG)
    return tmp_path / "tree"


@pytest.mark.parametrize("options", [[], ["--fix"], ["--diff"], ["--strict", "--notes"]])
def test_a_walk_of_hostile_files(npu, hostile, options):
    """The other file's finding is there, the exit code is 1, and nothing is a fault of ours."""
    found = npu("check", *options, hostile)
    said = found.out + found.err
    assert (found.code, "NPU700" in said, "Traceback" in said) == (1, False, False), said
    assert (
        "1 fixed" if "--fix" in options else '"precision_modee"'
    ) in said or "--diff" in options


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_files_by_name(npu, hostile, name):
    """Each beside the wrong one, by every command that reads scripts or configurations."""
    for call in READ[sorted(HOSTILE).index(name) % golden.STRIDE :: golden.STRIDE]:
        words = shlex.split(call.format(hostile / name, hostile / "zz.yaml"))
        found = npu(*words)
        said = found.out + found.err
        assert found.code in (0, 1, 2)
        assert not {"NPU700", "NPU454", "Traceback"} & set(said.replace("[", " ").split()), said
        if call.startswith("check {}"):
            assert "precision_modee" in said


JUDGES = {
    "check": ("check IN.yaml wrong.yaml", "rules.reading.judge", "NPU101"),
    "check, comments": ("check npu.py wrong.yaml", "judging.comments.Suppressions", "NPU101"),
    "check, scripts": ("check npu.py wrong.yaml", "judging.batch.read", "NPU101"),
    "check, words": ("check --if-ours npu.py wrong.yaml", "judging.batch.may_matter", "NPU101"),
    "check --on-host": (
        "check --on-host wrong.yaml",
        "launch.environment.check._files",
        "NPU101",
    ),
    "check of a folder": ("check tree", "cli._session.judge_if_ours", "NPU101"),
    "check --fix": ("check --fix again.yaml wrong.yaml", "cli._session.fixed", "1 fixed"),
    "compat": ("compat IN.yaml wrong.yaml", "rules.compatibility.uses", "precision_modee"),
    "migrate": ("migrate IN.py other.py", "migration.project.analyse", "npu_init"),
    "mixlist check": ("mixlist check IN.mixlist empty", "sidefiles.mixlist.check", "empty:1"),
    "ranktable check": (
        "ranktable check IN.table.json empty",
        "rank_table.judge",
        "empty:1",
    ),
    "format": ("format IN.mixlist other.mixlist", "cli.format._cleaned", "other.mixlist: form"),
    "env --check": (
        "env --check IN.env empty",
        "launch.environment.dotenv.FaultLog",
        "empty:1",
    ),
    "dump list": ("dump list two", "dumps.dump.parse_header", "Node_OpDebug"),
    "dump overflow": ("dump overflow two", "dumps.overflow.read_overflow", "overflow; start"),
}
"""Two files, what fails on the first one, and what is said of the other one."""


@pytest.fixture
def pairs(folder):
    """The files that the calls name."""
    wrong = "version: 1\nprecision_modee: allow_mix_precision\n"
    (folder / "tree").mkdir()
    for name in ("wrong.yaml", "again.yaml", "tree/a.yaml", "tree/b.yaml"):
        (folder / name).write_text(wrong)
    (folder / "npu.py").write_bytes(HEAD + b"x = 1  # npu: ignore[NPU101]\n")
    (folder / "other.py").write_text((folder / "IN.py").read_text())
    (folder / "other.mixlist").write_text('{"black-list": {"to-add": ["Pow"],}}')
    (folder / "empty").write_text("?")
    for number in (1, 2):
        name = "two/20260101000000/0/m/1/0/Opdebug.Node_OpDebug.{0}.1.17673230450000{0}0".format(
            number
        )
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(RECORD)
    return folder


@pytest.mark.parametrize("error", [SystemError, MemoryError, RecursionError, ValueError])
@pytest.mark.parametrize("name", sorted(JUDGES))
def test_whatever_is_raised(npu, pairs, name, error, monkeypatch):
    """It is a finding of that file, with exit code 1; the other one is looked at."""
    call, place, expected = JUDGES[name]
    module, _, attribute = place.rpartition(".")
    owner = importlib.import_module("npu_config." + module)
    real, calls = getattr(owner, attribute), []

    def fails(*arguments, **named):
        calls.append(arguments)
        if len(calls) == 1:
            raise error("a fault of ours")
        return real(*arguments, **named)

    monkeypatch.setattr(owner, attribute, fails)
    found = npu(*shlex.split(call))
    said = found.out + found.err
    assert (found.code, "a fault of ours" in said, expected in said) == (1, True, True), said
    assert "NPU454" in said if name == "migrate" else "NPU700" in said


@pytest.mark.parametrize("error", [SystemError("why"), KeyError("why"), RecursionError("why")])
def test_what_no_file_is_to_blame_for(npu, error, monkeypatch):
    """One line with the exception and its place, exit code 1, and no traceback."""

    def fails(**_):
        raise error

    monkeypatch.setattr(schema.command, "callback", fails)
    found = npu("schema")
    assert (found.code, found.out) == (1, "")
    assert found.err.startswith("Error: npu_config failed: {}, ".format(type(error).__name__))
    assert found.err.endswith(
        "[NPU700 internal-fault]; this is a bug in npu_config: please report it\n"
    )


def test_a_file_that_no_command_expected(npu, monkeypatch):
    """An error of the system is said with its file; it is none of npu_config's faults."""

    def fails(**_):
        raise PermissionError(13, "Permission denied", "/x/y")

    monkeypatch.setattr(schema.command, "callback", fails)
    assert npu("schema") == (2, "", "Error: /x/y: Permission denied\n")


@pytest.mark.parametrize(
    "call",
    [
        "diagnose graph.pbtxt",
        "ranktable build --server a --device-ips 10.0.0.1 --devices \u00b2",
        "ranktable build --server a --device-ips 10.0.0.1 --devices \u00b2-\u00b3",
        "env --check digit.env",
        "dump list dump",
    ],
)
def test_digits_that_are_no_numbers(npu, tmp_path, monkeypatch, call):
    """A superscript two is a digit to Unicode, and no number to anybody."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph.pbtxt").write_bytes(
        'node {name: "a" op: "Const"} node {name: "b" op: "Add" input: "a:\u00b2"}\n'.encode()
    )
    (tmp_path / "digit.env").write_bytes("RANK_ID=\u00b2\nRANK_SIZE=\u0663\n".encode())
    (tmp_path / "dump" / "\u00b2").mkdir(parents=True)
    (tmp_path / "dump" / "\u00b2" / "Add.a.\u00b2.1.2").write_text("")
    found = npu(*call.split())
    said = found.out + found.err
    assert (found.code in (0, 1, 2), "NPU700" in said) == (True, False), said


@pytest.mark.parametrize("quoted", ["'bl\\ud800ck-list'", '"bl\\q\\ud800ck-list"'])
@pytest.mark.parametrize("option", ["--fix", "--diff"])
def test_half_of_a_surrogate_pair(npu, tmp_path, quoted, option):
    """No encoding can write it: it is a finding, and no fix makes the text of it."""
    path = tmp_path / "ops_info.json"
    path.write_text('{{{}: {{"to-add": ["A"]}}}}\n'.format(quoted))
    found = npu("check", option, "--as", "mixlist", path)
    assert (found.code, "NPU700" in found.out) == (1, False)
    assert path.read_text() == '{{{}: {{"to-add": ["A"]}}}}\n'.format(quoted)
