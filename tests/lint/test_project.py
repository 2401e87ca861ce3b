"""The table of pyproject.toml."""

import importlib.util
import os
import sys

import pytest

from npu_config.core.target import Target
from npu_config.lint.project import Project, find_project, read_project
from npu_config.rulebook import load_all

TABLE = """\
[project]
name = "x"

[tool.npu-config]
select = ["NPU1", "both-dumps"]
ignore = ["NPU901"]
exclude = ["third_party/"]
strict = true
on-host = false
target = "atlas_a2"
mode = "training"
cann = "8.5.0"
baseline = "checks/npu-baseline.json"

[tool.npu-config.per-file-ignores]
"examples/*.py" = ["NPU3"]
"*_test.py" = ["NPU8", "NPU9"]
"""

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11) and importlib.util.find_spec("tomli") is None,
    reason="TOML needs tomli on this Python",
)


def project(tmp_path, text):
    """The project of a table."""
    path = tmp_path / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    return read_project(str(path), load_all)


def test_all_keys(tmp_path):
    """Every key is read; paths are relative to the file."""
    found = project(tmp_path, TABLE)
    assert found.diagnostics == ()
    assert found.select == ("NPU1", "both-dumps")
    assert found.ignore == ("NPU901",)
    assert found.exclude == ("third_party/",)
    assert (found.strict, found.on_host) == (True, False)
    assert found.target == Target("atlas_a2", "training", "8.5.0")
    assert found.baseline == str(tmp_path / "checks/npu-baseline.json")
    assert found.root == str(tmp_path)


def test_per_file_ignores(tmp_path):
    """Patterns are those of .gitignore, relative to the file."""
    found = project(tmp_path, TABLE)
    assert found.ignored_for(str(tmp_path / "examples" / "a.py")) == ("NPU3",)
    assert found.ignored_for(str(tmp_path / "x" / "a_test.py")) == ("NPU8", "NPU9")
    assert found.ignored_for(str(tmp_path / "examples" / "deep" / "a.py")) == ()
    assert found.ignored_for("/elsewhere/a_test.py") == ()


@pytest.mark.parametrize(
    ("line", "place", "words"),
    [
        ('ignores = ["NPU1"]', (2, 1), 'did you mean "ignore"?'),
        ('ignore = "NPU1"', (2, 10), "must be a list of strings"),
        ("select = [1]", (2, 10), "must be a list of strings"),
        ('select = ["NPU1", "NPU9999"]', (2, 19), '"NPU9999" is not a rule'),
        ('ignore = ["both-dump"]', (2, 11), 'did you mean "both-dumps"?'),
        ('per-file-ignores = {"x" = ["nosuch"]}', (2, 28), '"nosuch" is not a rule'),
        ('strict = "yes"', (2, 10), "must be true or false"),
        ('target = "atlas_a9"', (2, 10), "atlas_a2"),
        ("mode = 3", (2, 8), "training"),
        ("baseline = true", (2, 12), "must be a string"),
        ("per-file-ignores = []", (2, 20), "must be a table"),
        ('per-file-ignores = {"x" = "NPU1"}', (2, 27), '"x" must be a list of strings'),
    ],
)
def test_faults(tmp_path, line, place, words):
    """A wrong key or value is told with its place; the rest counts all the same."""
    found = project(tmp_path, "[tool.npu-config]\n{}\ncann = '8'\n".format(line))
    (fault,) = found.diagnostics
    assert (fault.rule, fault.line, fault.column) == ("NPU833", *place)
    assert words in "{} {}".format(fault.message, fault.help)
    assert found.target == Target(cann="8")


def test_no_table(tmp_path):
    """Files without the table, or that cannot be read, are no project."""
    assert project(tmp_path, "[tool.black]\n") is None
    assert project(tmp_path, '[tool.black]\nx = "npu-config"\n') is None
    assert project(tmp_path, '[project]\ndependencies = [\n"npu-config==1.0",\n]\nx = \n') is None
    assert read_project(str(tmp_path / "no.toml"), load_all) is None
    (tmp_path / "pyproject.toml").write_bytes(b"\xff npu-config")
    assert read_project(str(tmp_path / "pyproject.toml"), load_all) is None


def test_other_spellings_of_the_table(tmp_path):
    """TOML has several ways to write a table."""
    for text in (
        '[ tool . "npu-config" ]\nstrict = true\n',
        "[tool]\nnpu-config = {strict = true}\n",
        "tool.npu-config.strict = true\n",
        "\ufeff[tool.npu-config]\nstrict = true\n",
    ):
        assert project(tmp_path, text).strict


def test_no_such_table(tmp_path):
    """A table of nearly that name, or what is no table, is told."""
    (fault,) = project(tmp_path, "[tool.npu_config]\nstrict = true\n").diagnostics
    assert (fault.rule, fault.line) == ("NPU833", 1)
    assert "[tool.npu-config]" in fault.message
    (fault,) = project(tmp_path, "[tool]\nnpu-config = 3\n").diagnostics
    assert (fault.rule, fault.line) == ("NPU833", 2)


def test_excluded(tmp_path):
    """A pattern that names a directory takes everything in it away, here and for single files."""
    found = project(
        tmp_path,
        '[tool.npu-config]\nexclude = ["a/b", "*_old.py", "!a/b/keep.py", "!b_old.py"]\n'
        '[tool.npu-config.per-file-ignores]\n"c/" = ["NPU3"]\n',
    )
    left = [
        name
        for name in ("a/x.py", "a/b/x.py", "a/b/c/x.py", "a/b/keep.py", "x_old.py", "b_old.py")
        if not found.excludes(str(tmp_path / name))
    ]
    assert left == ["a/x.py", "b_old.py"]
    assert found.ignored_for(str(tmp_path / "c" / "d" / "x.py")) == ("NPU3",)
    assert found.ignored_for(str(tmp_path / "c.py")) == ()
    assert not found.excludes("/elsewhere/x_old.py")


def test_place(tmp_path, monkeypatch):
    """The file is named relative to the working directory, as all others are."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.npu-config]\nx = 1\n")
    found = find_project("train.py", load_all)
    assert found.diagnostics[0].path == "pyproject.toml"
    assert found.text == "[tool.npu-config]\nx = 1\n"
    assert found.root == str(tmp_path)


def test_broken_file(tmp_path):
    """A file that is no TOML is told."""
    found = project(tmp_path, "[tool.npu-config]\nignore = [\n")
    assert found is not None
    assert found.diagnostics


def test_search(tmp_path):
    """The nearest table on the way up, within the repository."""
    inner = tmp_path / "repository" / "a" / "b"
    inner.mkdir(parents=True)
    script = inner / "train.py"
    script.write_text("")
    (tmp_path / "pyproject.toml").write_text("[tool.npu-config]\nstrict = true\n")
    (inner / "pyproject.toml").write_text("[tool.black]\n")
    assert find_project(str(script), load_all).strict
    (tmp_path / "repository" / ".git").mkdir()
    assert find_project(str(script), load_all) == Project()
    (tmp_path / "repository" / "pyproject.toml").write_text(
        "[tool.npu-config]\nignore = ['NPU3']\n"
    )
    assert find_project(str(inner), load_all).ignore == ("NPU3",)
    assert find_project(str(tmp_path / "no" / "such"), load_all).strict
    assert Project().root == os.getcwd()
    assert Project().ignored_for("x.py") == ()
