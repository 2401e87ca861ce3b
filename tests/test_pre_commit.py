"""The hook file for pre-commit: what it runs exists and takes files."""

import ast
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import yaml

HOOKS = Path(__file__).parent.parent / ".pre-commit-hooks.yaml"
CONFIG = ".pre-commit-config.yaml"
HOME = Path(tempfile.gettempdir(), "npu_config-pre-commit-{}".format(os.getpid()))
"""Where pre-commit installs the hook, once for all tests of the process."""


def test_the_hook_runs_a_command_of_ours():
    """The entry is a command line that the program accepts, and it passes right files."""
    testing = pytest.importorskip("click.testing")
    from npu_config.cli.app import app

    (hook,) = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    assert {"id", "name", "entry", "language"} <= set(hook)
    program, *arguments = hook["entry"].split()
    assert program == "npu-config"
    example = HOOKS.parent / "examples" / "quickstart"
    right = testing.CliRunner().invoke(app, [*arguments, str(example / "config.yaml")])
    wrong = testing.CliRunner().invoke(app, [*arguments, str(example / "broken.yaml")])
    assert (right.exit_code, wrong.exit_code) == (0, 1)


def test_the_hook_passes_over_files_of_others(tmp_path, monkeypatch):
    """pre-commit names every file of a repository that has the right type."""
    testing = pytest.importorskip("click.testing")
    from npu_config.cli.app import app

    (hook,) = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    others = {
        "pyproject.toml": '[project]\nname = "x"\n[tool.npu-config]\nexclude = ["old/"]\n',
        "package.json": '{"name": "x", "scripts": {}}\n',
        ".pre-commit-config.yaml": "repos: []\n",
        "ci.yml": "on: push\njobs: {}\n",
        "setup.py": "import setuptools\n",
        "old/npu.yaml": "version: 1\nprecision_mode: x\n",
    }
    for name, text in others.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    found = testing.CliRunner().invoke(app, [*hook["entry"].split()[1:], *others])
    assert (found.exit_code, found.output) == (0, "no file was checked\n")


def test_the_hook_needs_what_the_command_line_needs():
    """The hook installs the requirements of the extra."""
    (hook,) = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    setup = (HOOKS.parent / "setup.py").read_text(encoding="utf-8")
    extra = re.search(r"^CLI = \[\n(.*?)^\]", setup, re.MULTILINE | re.DOTALL).group(1)
    assert ast.literal_eval("[" + extra + "]") == hook["additional_dependencies"]


def commit():
    """The commit of this clone that pre-commit installs."""
    words = ["git", "rev-parse", "HEAD"]
    return subprocess.check_output(words, cwd=str(HOOKS.parent), encoding="utf-8").strip()


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["wrong rank", "CRLF", "none"])
def test_the_hook_as_pre_commit_installs_it(tmp_path, fault):
    """In a repository with a wrong launch script the installed hook fails, else it passes."""
    pytest.importorskip("pre_commit", reason="pre-commit is not installed")
    if not (HOOKS.parent / ".git").exists():
        pytest.skip("this is no clone of the repository")
    ranks = "8" if fault == "wrong rank" else "7"
    end = "\r\n" if fault == "CRLF" else "\n"
    lines = [
        "#!/bin/bash",
        "export RANK_SIZE=8",
        "export RANK_ID=" + ranks,
        "python3 train.py",
        "",
    ]
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / "run.sh").write_bytes(end.join(lines).encode())
    ours = {"repo": str(HOOKS.parent), "rev": commit(), "hooks": [{"id": "npu-config"}]}
    (tmp_path / "user" / CONFIG).write_text(yaml.safe_dump({"repos": [ours]}))
    for words in ("init -q .", "add ."):
        subprocess.run(["git", *words.split()], cwd=str(tmp_path / "user"), check=True)
    found = subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", "--verbose", "--files", "run.sh"],
        cwd=str(tmp_path / "user"),
        env={**os.environ, "PRE_COMMIT_HOME": str(HOME)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    rule = {
        "wrong rank": "NPU676",
        "CRLF": "NPU624",
        "none": "no problem found in 1 file",
    }
    assert ((found.returncode == 1) is (fault != "none"), rule[fault] in found.stdout) == (
        True,
        True,
    ), found.stdout


def test_the_hook_gets_every_kind_of_file():
    """Every suffix that a directory walk looks at is passed to the hook (A5)."""
    from npu_config.readers import FORMATS

    (hook,) = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    suffixes = {suffix for entry in FORMATS.values() for suffix in entry.suffixes}
    for suffix in {*suffixes, ".pbtxt", ".cfg", ".ini", ".json"}:
        assert re.search(hook["files"], "conf/x" + suffix), suffix
    for name in ("launch", "bin/train_8p"):
        assert re.search(hook["files"], name), name
    for name in ("README.md", "conf.d/x.md"):
        assert re.search(hook["files"], name) is None, name
    assert "types" not in hook
    assert "types_or" not in hook
