"""The files that tell people and machines how to work on the repository say what is true."""

import ast
import re
from pathlib import Path

import pytest
import yaml

from tests.package_trees import PACKAGE, modules

ROOT = Path(__file__).parent.parent
FILES = (
    ".pre-commit-config.yaml",
    ".pre-commit-hooks.yaml",
    ".readthedocs.yaml",
    ".github/workflows/ci.yml",
    "CONTRIBUTING.md",
    "docs/requirements.txt",
    "noxfile.py",
    "Makefile",
)


@pytest.mark.parametrize("name", FILES)
def test_no_machine_is_named(name):
    """Neither a registry nor a path of somebody's machine."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert re.search(r"pypi\.|index-url|/root/|/opt/|/work/|/home/\w+/", text) is None


def test_ci_runs_what_ci_run_runs():
    """One way to run everything, with every interpreter of the matrix."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["matrix"]["steps"]
    assert ".ci/run" in [step.get("run") for step in steps]
    (versions,) = [s["with"]["python-version"].split() for s in steps if "with" in s]
    noxfile = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    assert set(re.findall(r'interpreter\("([\d.]+)"\)', noxfile)) == set(versions)
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").rstrip().endswith("make test")


def test_every_test_session_is_in_a_lane():
    """``make test`` leaves no session of the matrix out."""
    noxfile = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    matrix = (ROOT / "tools" / "matrix.py").read_text(encoding="utf-8")
    sessions = re.search(r"nox\.options\.sessions = \[(.*?)\]", noxfile, re.DOTALL).group(1)
    for name in re.findall(r'"(\w+)"', sessions):
        assert '"{}"'.format(name) in matrix


def test_markers_are_explained():
    """CONTRIBUTING.md names the markers that pyproject.toml declares."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    markers = re.search(r"markers = \[(.*?)\n?\]", project, re.DOTALL).group(1)
    names = re.findall(r'"(\w+):', markers)
    assert {"slow", "tensorflow"} <= set(names)
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [name for name in names if "`{}`".format(name) not in text] == []


def test_what_contributing_names_exists():
    """Files, folders and nox sessions."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:npu_config|tests|tools|cli|docs)/[\w/.-]*)`", text)
    assert named
    for name in named:
        inside = name if name.startswith("cli/") else name.partition("npu_config/")[2]
        path = PACKAGE / inside if inside else ROOT / name
        assert path.exists(), name
    for session in re.findall(r"nox -s (\w+)", text):
        assert "def {}(".format(session) in (ROOT / "noxfile.py").read_text(encoding="utf-8")


def test_local_hooks_are_commands_of_ours():
    """Each hook of this repository runs a tool that the set-up installs."""
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (repo,) = config["repos"]
    assert repo["repo"] == "local"
    assert {hook["entry"].split()[0] for hook in repo["hooks"]} == {"ruff", "python"}


OWN_FILES = {"launch/pod.py", "runner/hub.py", "runner/ranks.py", "tf1/vendor.py"}
"""They open what this package, the system or an operator made, never what a user names."""


def test_every_file_is_opened_by_reading():
    """``paths.reading`` refuses what never answers or ends: no reader can be made to wait."""
    wrong = []
    for module in modules():
        for node in module.nodes:
            if not isinstance(node, ast.Call) or module.name in OWN_FILES:
                continue
            called = _dotted(node.func)
            if called == "os.walk" or (called == "open" and not _is_safe(node)):
                wrong.append("{}:{} {}".format(module.name, node.lineno, called))
    assert wrong == []


def test_digits_are_decimal():
    """``"\u00b2".isdigit()`` is True, and ``int`` refuses it: ``isdecimal`` says what is meant."""
    wrong = [
        "{}:{}".format(module.name, node.lineno)
        for module in modules()
        for node in module.nodes
        if isinstance(node, ast.Attribute) and node.attr in ("isdigit", "isnumeric")
    ]
    assert wrong == []


def _dotted(node):
    if isinstance(node, ast.Attribute):
        return "{}.{}".format(_dotted(node.value), node.attr)
    return getattr(node, "id", "")


def _is_safe(call):
    """Whether a call of open writes a new file, or has the opener."""
    mode = ast.dump(call.args[1]) if len(call.args) > 1 else ""
    return "'xb'" in mode or any(keyword.arg == "opener" for keyword in call.keywords)
