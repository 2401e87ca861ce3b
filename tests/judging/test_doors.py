"""Every door says the same rules, severities and places as ``check`` in a process of its own."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import npu_config as npu
from npu_config.__main__ import main
from npu_config.core.diagnostics import Place
from npu_config.core.target import Target
from npu_config.editor.lines import Lines
from npu_config.sidefiles import FORMATS
from tests import forks, golden
from tests.editor.client import Client

pytest.importorskip("click")

ROOT = Path(__file__).parents[1]
GOLDEN = [
    ROOT / room / "cases" for room in ("", "script", "rank_table", "launch/shell", "readers")
] + [ROOT / "sidefiles" / "cases" / half / kind for half in ("err", "ok") for kind in FORMATS]
SUFFIXES = (".py", ".yaml", ".toml", ".json", ".pbtxt", ".sh", ".cfg", ".ini", ".txt")
SAMPLE = 8 * golden.STRIDE
"""Every so manyth input goes through the doors that take one file a call, and of the vectors
every so manyth is an input."""


class Input(NamedTuple):
    """One file: its name, its content, and the target that it is judged for."""

    name: str
    content: bytes
    target: Target = Target()


def golden_cases():
    """Every golden case, side files by the names that users give them."""
    for folder in GOLDEN:
        kind = FORMATS.get(folder.name)
        halves = [folder] if kind else [folder / "err", folder / "ok"]
        for path in sorted(path for half in halves for path in half.rglob("*")):
            if path.is_file() and path.suffix in SUFFIXES:
                name = kind.default_name if kind else path.name
                yield Input(name, path.read_bytes(), golden.target_of(path))


def rows(*parts):
    """Every so manyth row of a file of vectors."""
    path = ROOT.joinpath("data", *parts)
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(str(path), "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream][::SAMPLE]


def vectors():
    """Measured ConfigProtos, side files, rank tables and calls of NPURunConfig."""
    for row in rows("vectors", "adapter_verdicts.jsonl"):
        yield Input("config.pbtxt", proto_text(row["params"]).encode("utf-8"))
    for row in rows("files", "verdicts.jsonl.gz"):
        kind = FORMATS.get(row["kind"])
        name = kind.default_name if kind else "rank_table.json"
        yield Input(name, row["text"].encode("utf-8"), Target(row.get("product")))
    for row in rows("tf1", "session_config_parity.jsonl"):
        if row.get("api") == "NPURunConfig+NPUEstimator":
            yield Input("train.py", script(row["input"]["kwargs"]).encode("utf-8"))


def proto_text(parameters):
    """A parameter_map as text, each value in the field that held it."""
    lines = []
    for name, fields in parameters.items():
        value = " ".join(
            "{}: {}".format(field, json.dumps(content, ensure_ascii=False))
            for field, content in fields.items()
        )
        lines.append('parameter_map {{ key: "{}" value {{ {} }} }}'.format(name, value))
    around = (
        "graph_options {{ rewrite_options {{ custom_optimizers {{\n"
        'name: "NpuOptimizer"\n{}\n}} }} }}\n'
    )
    return around.format("\n".join(lines))


def script(arguments):
    """A training script that makes an NPURunConfig."""
    return "from npu_bridge.npu_init import *\n\nconfig = {}\n".format(
        called("NPURunConfig", arguments)
    )


def called(name, arguments):
    """The call of a class, whose arguments may be such calls."""
    words = [
        "{}={}".format(key, expression(value))
        for key, value in arguments.items()
        if key not in ("__class__", "text")
    ]
    return "{}({})".format(name, ", ".join(words))


def expression(value):
    """A value of a vector as Python writes it."""
    if isinstance(value, dict) and "__class__" in value:
        return called(value["__class__"], value)
    return repr(value)


def command(*words, cwd):
    """The installed command where it is beside Python, else the module; its standard output."""
    return result(*words, cwd=cwd).stdout.decode("utf-8")


def result(*words, cwd):
    """What the process of a command ended with."""
    beside = Path(sys.executable).parent / "npu-config"
    call = [str(beside)] if beside.exists() else [sys.executable, "-m", "npu_config"]
    environ = {**os.environ, "PYTHONPATH": "" if beside.exists() else str(ROOT.parent)}
    return subprocess.run(
        [*call, *map(str, words)], cwd=str(cwd), env=environ, stdout=-1, stderr=-1, timeout=600
    )


def of(document):
    """Path to what is found in it, as a set of rule, severity and place."""
    found = {}
    for each in document["diagnostics"]:
        place = each["line"], each["column"], each["end_line"], each["end_column"]
        found.setdefault(each["path"], set()).add((each["rule"], each["severity"], *place))
    return found


class Group(NamedTuple):
    """The inputs of one target, each in a folder of its own.

    ``options`` say the target on the command line in ``alone``; in ``project`` the same files
    lie below a pyproject.toml that does.  ``found``: what ``check`` says of each name.
    """

    target: Target
    options: tuple
    alone: Path
    project: Path
    names: list
    found: dict


def options_of(target):
    """The words that say a target on the command line, and the lines of pyproject.toml."""
    parts = (
        ("--target", "target", target.product and target.product.value),
        ("--mode", "mode", target.mode),
        ("--target-cann", "cann", target.cann),
    )
    words = [word for option, _, value in parts if value for word in (option, value)]
    lines = ['{} = "{}"\n'.format(key, value) for _, key, value in parts if value]
    return tuple(words), "[tool.npu-config]\n" + "".join(lines)


@pytest.fixture(scope="module")
def groups(tmp_path_factory):
    """Every input in the folders of its target, and what ``check`` says of each.

    It says so in a new Python for the most inputs, and in copies of this one for the few of each
    other target.
    """
    top = tmp_path_factory.mktemp("doors")
    by_target = {}
    for each in (*golden_cases(), *vectors()):
        by_target.setdefault(each.target, []).append(each)
    made = []
    here = os.getcwd()
    for number, target in enumerate(sorted(by_target, key=lambda each: -len(by_target[each]))):
        inputs = by_target[target][:: golden.STRIDE]
        alone = top / "alone" / str(number)
        names = []
        for place, each in enumerate(inputs):
            (alone / str(place)).mkdir(parents=True)
            (alone / str(place) / each.name).write_bytes(each.content)
            names.append("{}/{}".format(place, each.name))
        project = top / "project" / str(number)
        shutil.copytree(str(alone), str(project))
        options, table = options_of(target)
        (project / "pyproject.toml").write_text(table, encoding="utf-8")
        call = ["check", "--format", "json", *options, *names]
        if number:
            os.chdir(str(alone))
            said = forks.ended(call, {}).out
            os.chdir(here)
        else:
            said = command(*call, cwd=alone)
        made.append(Group(target, options, alone, project, names, of(json.loads(said))))
    return made


class Comparison:
    """Counts what was compared, and keeps where a door says something else than ``check``."""

    def __init__(self):
        self.compared = {}
        self.wrong = {}

    def of(self, door, name, expected, found):
        """Compare what a door says of an input."""
        self.compared[door] = self.compared.get(door, 0) + 1
        if found != expected:
            self.wrong[door, name] = found ^ expected

    def tell(self):
        """Print the numbers; nothing may be wrong."""
        print(self.compared, len(self.wrong))
        assert self.wrong == {}


def checked_in_copy(words):
    """What ``check`` leaves to others and what it finds, in a copy of this process.

    A walk and the hook say which files they do not judge.
    """
    call = ["check", "--show-skipped", "--format", "json", *words]
    ended = forks.ended(call, {})
    document = json.loads(ended.out)
    said = {
        line[len("skipped ") :].partition(": ")[0]
        for line in ended.errors.splitlines()
        if line.startswith("skipped ")
    }
    return said - {each["path"] for each in document["unchecked"]}, of(document)


def test_check_hook_and_library(groups, monkeypatch):
    """A file that is named, one that the hook names, one found, and ``npu_config.check``."""
    compared = Comparison()
    for group in groups:
        monkeypatch.chdir(group.alone)
        for name in group.names:
            report = of(
                {"diagnostics": [each.to_dict() for each in npu.check(name, group.target)]}
            )
            compared.of(
                "library",
                group.alone / name,
                group.found.get(name, set()),
                report.get(name, set()),
            )
        monkeypatch.chdir(group.project)
        for door, words in (
            ("named", group.names),
            ("hook", ["--if-ours", *group.names]),
            ("walk", ["."]),
        ):
            left, found = checked_in_copy(words)
            for name in group.names:
                if name not in left or name in found:
                    expected = group.found.get(name, set())
                    compared.of(door, group.project / name, expected, found.get(name, set()))
    compared.tell()


def sampled(groups, *suffixes):
    """Group and name of some inputs with these suffixes."""
    every = [(g, name) for g in groups for name in g.names if name.endswith(suffixes)]
    return every[::SAMPLE]


@pytest.mark.slow
def test_doctor_generate_and_show(groups, monkeypatch, capsys):
    """They write what they found with ``--findings``."""
    compared = Comparison()
    for group, name in sampled(groups, ".py", ".yaml", ".toml", ".pbtxt"):
        monkeypatch.chdir(group.alone)
        for door in (["doctor"], ["generate", "--to", "yaml"], ["show"]):
            main([*door, "--findings", "found.json", *group.options, name])
            capsys.readouterr()
            found = of(json.loads((group.alone / "found.json").read_text(encoding="utf-8")))
            (group.alone / "found.json").unlink()
            expected = group.found.get(name, set())
            compared.of(door[0], group.alone / name, expected, found.get(name, set()))
    compared.tell()


@pytest.mark.slow
def test_dry_run(groups, monkeypatch, capfd):
    """``run --dry-run`` says of a script what ``check`` says, beside what only a run shows."""
    compared = Comparison()
    for group, name in sampled(groups, ".py"):
        monkeypatch.chdir(group.project)
        main(["run", "--dry-run", "--format", "json", "--timeout", "60", name])
        said = "\n" + capfd.readouterr().out  # what the script prints comes first
        seen = json.loads("{" + said.partition("\n{")[2])
        found = of({"diagnostics": seen["findings"]}).get(name, set())
        expected = group.found.get(name, set())
        compared.of("run", group.project / name, expected, found & expected)
    compared.tell()


def test_language_server(groups, monkeypatch):
    """An editor that opens the files is shown what ``check`` says of them, at the same places."""
    pytest.importorskip("pygls")
    compared = Comparison()
    asked = []
    for group in groups:
        monkeypatch.chdir(group.project)
        names = [name for name in group.names[::SAMPLE] if is_text(group.project / name)]
        asked.append((group, names, *checked_in_copy(["--if-ours", *names])))
    with Client(groups[0].project) as client:
        for group, names, left, expected in asked:
            texts = {name: (group.project / name).read_bytes().decode("utf-8") for name in names}
            for name, text in texts.items():
                client.open(group.project / name, text)
            shown = {name: client.published(group.project / name) for name in names}
            for name, text in texts.items():
                if name not in left or shown[name]:
                    there = shown_of(expected.get(name, set()), text)
                    compared.of("lsp", group.project / name, there, in_editor(shown[name]))
    compared.tell()


def is_text(path):
    """Whether an editor can open a file."""
    try:
        return not path.read_bytes().decode("utf-8").startswith("\ufeff")
    except UnicodeDecodeError:
        return False


def shown_of(found, text):
    """Findings of :func:`of` as an editor shows them."""
    lines = Lines(text)
    return {
        (rule, severity, lines.of_place(Place(None, *place))) for rule, severity, *place in found
    }


def in_editor(diagnostics):
    """What an editor shows, in the form of :func:`shown_of`."""
    severities = {1: "error", 2: "warning", 3: "info"}
    return {
        (
            each["code"],
            severities[each["severity"]],
            tuple((each["range"][end]["line"], each["range"][end]["character"]) for end in ENDS),
        )
        for each in diagnostics
    }


ENDS = ("start", "end")


def test_ignore_comments(tmp_path, monkeypatch):
    """What is wrong with a comment that silences findings is said by check and the library."""
    monkeypatch.chdir(tmp_path)
    texts = {
        "unknown.yaml": "version: 1\ndeterministic: 1  # npu: ignore[NPU999]\n",
        "idle.yaml": "version: 1\n# npu: ignore\ndeterministic: 1\n",
        "void.py": "import npu_config  # npu: ignore NPU104\n",
        "launch.sh": "export RANK_ID=0  # npu: ignore[NPU61, no-such-rule]\npython3 train.py\n",
        "obeyed.yaml": "version: 1\niterations_per_loop: 0  # npu: ignore\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    expected = of(json.loads(command("check", "--format", "json", *texts, cwd=tmp_path)))
    assert set(expected) == set(texts) - {"obeyed.yaml"}
    assert {"NPU832"} <= {rule for found in expected.values() for rule, *_ in found}
    library = [each.to_dict() for name in texts for each in npu.check(name)]
    assert of({"diagnostics": library}) == expected


def checked(words, capsys):
    """What ``check`` says in this process."""
    main(["check", "--format", "json", *words])
    return json.loads(capsys.readouterr().out)


def test_several_projects(tmp_path, monkeypatch, capsys):
    """The target of a file is that of its own project, whichever files are named with it."""
    (tmp_path / ".git").mkdir()
    names = []
    for folder, product in ("a2", "atlas_a2"), ("a2/old", "atlas_training"):
        (tmp_path / folder).mkdir()
        table = '[tool.npu-config]\ntarget = "{}"\n'.format(product)
        (tmp_path / folder / "pyproject.toml").write_text(table)
        (tmp_path / folder / "npu.yaml").write_text("version: 1\n" + BFLOAT16 + "\n")
        text = 'from npu_config import NpuConfigBuilder\nNpuConfigBuilder().set(**{"%s": "%s"})\n'
        (tmp_path / folder / "train.py").write_text(text % tuple(BFLOAT16.split(": ")))
        names += [folder + "/npu.yaml", folder + "/train.py"]
    monkeypatch.chdir(tmp_path)
    expected = {name: {"NPU108"} for name in names if "old" in name}
    calls = [["."], ["a2"], names, names[::-1], ["--if-ours", *names]]
    said = [checked(c, capsys) for c in calls]
    library = {"diagnostics": [each.to_dict() for name in names for each in npu.check(name)]}
    for document in (*said, library):
        found = {path: {rule for rule, *_ in each} for path, each in of(document).items()}
        assert found == expected


def test_the_table_of_another_project_is_wrong(tmp_path, monkeypatch, capsys):
    """A target that cannot be read is said once, wherever the check begins."""
    (tmp_path / ".git").mkdir()
    for folder, table in (
        ("a", 'target = "atlas_a2"'),
        ("b", 'target = "nope"\nignore = ["NPU901"]'),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "pyproject.toml").write_text("[tool.npu-config]\n" + table + "\n")
        (tmp_path / folder / "npu.yaml").write_text("version: 1\nhccl_timeout: 5\n")
        (tmp_path / folder / "train.py").write_text("import npu_config\n")
    names = ["a/npu.yaml", "b/train.py"]
    monkeypatch.chdir(tmp_path)
    for call in (["."], ["b"], ["a", "b/npu.yaml"], names, names[::-1]):
        said = checked(call, capsys)
        found = [(each["path"], each["rule"], each["line"]) for each in said["diagnostics"]]
        assert found == [("b/pyproject.toml", "NPU833", 2)]


def test_what_is_silenced_is_not_said_of_the_output(tmp_path, monkeypatch, capsys):
    """``generate`` says nothing of a finding that a comment of the source silences."""
    monkeypatch.chdir(tmp_path)
    lines = ["dump_mode: every  # npu: ignore[NPU104]", "dump_debug_mode: every"]
    (tmp_path / "npu.yaml").write_text("\n".join(["version: 1", *lines, ""]))
    assert main(["generate", "--to", "toml", "npu.yaml"]) == 0
    said = capsys.readouterr().err
    assert ("npu.yaml:3:" in said, "npu.yaml:2:" in said) == (True, False)


BFLOAT16 = "precision_mode_v2: mixed_bfloat16"
