"""Files below a directory, as git sees them."""

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_config.lint.gitignore import Patterns
from npu_config.lint.project import find_project
from npu_config.lint.walk import walk
from npu_config.rulebook import load_all
from npu_config.script.neighbours import any_importer_has, any_neighbour_has


def make(root, *names):
    """Create files below a directory; text after ``=`` is their content."""
    for name in names:
        path, _, content = name.partition("=")
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content.replace(";", "\n"))


def found(root, *exclude):
    """What is found, relative to the root, with slashes."""
    return [
        os.path.relpath(path, str(root)).replace(os.sep, "/") for path in walk(str(root), exclude)
    ]


def test_order_and_hidden(tmp_path):
    """In order of name, files before directories; hidden and build directories are left out."""
    make(tmp_path, "b.py", "a.py", "z/c.py", "z/.hidden/x.py", ".git/x.py", "a/__pycache__/y.py")
    make(tmp_path, "node_modules/x.py", "z/build/x.py", ".dotfile.py")
    assert found(tmp_path) == [".dotfile.py", "a.py", "b.py", "z/c.py"]


def test_names_are_as_given(tmp_path, monkeypatch):
    """Paths begin with the directory as it was named."""
    make(tmp_path, "x/a.py")
    monkeypatch.chdir(str(tmp_path))
    assert list(walk("x")) == [os.path.join("x", "a.py")]
    assert list(walk("./x/")) == [os.path.join("./x/", "a.py")]
    assert list(walk(str(tmp_path / "x"))) == [str(tmp_path / "x" / "a.py")]


def test_ignore_files(tmp_path):
    """The innermost .gitignore that speaks of a path decides; later lines win."""
    make(tmp_path, ".gitignore=*.log;/top.py;out/;!keep.log;# comment;;doc/*.py")
    make(tmp_path, "a.log", "keep.log", "top.py", "x/top.py", "out/a.py", "x/out/a.py")
    make(tmp_path, "doc/a.py", "doc/deep/a.py", "x/.gitignore=!a.log", "x/a.log", "out.py")
    assert found(tmp_path) == [
        ".gitignore",
        "keep.log",
        "out.py",
        "doc/deep/a.py",
        "x/.gitignore",
        "x/a.log",
        "x/top.py",
    ]


def test_ignore_files_above(tmp_path):
    """In a repository the .gitignore files above the directory count, elsewhere not."""
    make(tmp_path, ".gitignore=*.log", "x/a.log", "x/a.py")
    assert found(tmp_path / "x") == ["a.log", "a.py"]
    (tmp_path / ".git").mkdir()
    assert found(tmp_path / "x") == ["a.py"]


def test_exclude(tmp_path):
    """Further patterns are relative to the directory."""
    make(tmp_path, "a.py", "third_party/b.py", "x/third_party/c.py", "x/d.py")
    assert found(tmp_path, "/third_party/", "d.py") == ["a.py", "x/third_party/c.py"]


def test_links(tmp_path):
    """Links to directories are not followed, so loops end; links to nothing are passed over."""
    make(tmp_path, "x/a.py")
    (tmp_path / "x" / "loop").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    (tmp_path / "nothing.py").symlink_to(tmp_path / "gone.py")
    (tmp_path / "linked.py").symlink_to(tmp_path / "x" / "a.py")
    assert found(tmp_path) == ["linked.py", "x/a.py"]


def test_what_vanishes(tmp_path):
    """A directory that is removed during the walk is passed over."""
    make(tmp_path, "a/1.py", "b/2.py")
    walking = walk(str(tmp_path))
    first = next(walking)
    os.unlink(str(tmp_path / "b" / "2.py"))
    os.rmdir(str(tmp_path / "b"))
    assert [os.path.basename(first), *walking] == ["1.py"]
    assert list(walk(str(tmp_path / "no"))) == []


def test_other_letters(tmp_path):
    """Names in Chinese, and names that are no text."""
    make(tmp_path, "训练/脚本.py", ".gitignore=忽略*")
    make(tmp_path, "忽略.py")
    (tmp_path / os.fsdecode(b"\xff.py")).write_text("")
    assert found(tmp_path) == [".gitignore", os.fsdecode(b"\xff.py"), "训练/脚本.py"]


PATTERNS = {
    "*.py": {"a.py": True, "x/a.py": True, "a.pyc": False},
    "/a.py": {"a.py": True, "x/a.py": False},
    "x/a.py": {"x/a.py": True, "y/x/a.py": False},
    "**/a.py": {"a.py": True, "x/y/a.py": True},
    "x/**": {"x": False, "x/a": True, "x/y/a": True},
    "x/**/a": {"x/a": True, "x/y/z/a": True, "a": False},
    "a?c": {"abc": True, "a/c": False},
    "[ab].py": {"a.py": True, "c.py": False},
    "[!ab].py": {"a.py": False, "c.py": True},
    "a\\*": {"a*": True, "ab": False},
    "\\#a": {"#a": True},
    "\\!a": {"!a": True},
    "a ": {"a": True, "a ": False},
    "a\\ ": {"a ": True},
    "a.py": {"axpy": False},
    "x*z": {"x/z": False, "xyz": True},
    "[": {"[": False},
    "/": {"a": False},
    "!": {"a": False},
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(pattern):
    """The syntax of .gitignore."""
    patterns = Patterns("/r", [pattern])
    for path, expected in PATTERNS[pattern].items():
        assert bool(patterns.verdict("/r/" + path, False)) is expected, path
    assert patterns.verdict("/elsewhere/a.py", False) is None


@given(st.lists(st.text("ab*?/!#\\[] .", max_size=8), max_size=4))
def test_any_patterns(lines):
    """Any line is a pattern or none; nothing raises."""
    patterns = Patterns("/r", lines)
    for path in ("a", "a/b", "b.a", "*"):
        assert patterns.verdict("/r/" + path, True) in (None, True, False)


@given(st.lists(st.text("ab*?/![].\\^-: ", min_size=1, max_size=6), min_size=1, max_size=3))
def test_as_git_does(tmp_path_factory, lines):
    """What is found is what git lists."""
    root = tmp_path_factory.mktemp("repository")
    make(root, "a", "b", "ab/a", "ab/b", "ba/ab/a", "a.b", "b.a/a")
    (root / ".gitignore").write_text("\n".join(lines))
    try:
        subprocess.run(["git", "init", "-q"], cwd=str(root), check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs git")
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"],
        cwd=str(root),
        check=True,
        stdout=subprocess.PIPE,
    ).stdout.decode()
    assert sorted(found(root)) == sorted(name for name in listed.split("\0") if name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe(tmp_path):
    """What is no file is not opened."""
    make(tmp_path, "a.py")
    os.mkfifo(str(tmp_path / "p.py"))
    assert found(tmp_path) == ["a.py"]


@pytest.mark.parametrize(
    ("pattern", "name"),
    [("*a" * 12 + "b", "a" * 200), ("**/a/" * 12 + "b", "a/" * 200 + "a"), ("[:" * 2000, "a")],
)
def test_patterns_never_backtrack(pattern, name):
    """Patterns that take a backtracking matcher hours are answered (and git says the same)."""
    assert Patterns("/r", [pattern]).verdict("/r/" + name, False) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_pipes(tmp_path):
    """Nobody waits for the other end of a pipe, whatever it is called."""
    for name in ("a.py", "b.yaml", ".gitignore", "pyproject.toml"):
        os.mkfifo(str(tmp_path / name))
    script = tmp_path / "inner" / "z.py"
    script.parent.mkdir()
    script.write_text(
        "from npu_bridge.npu_init import *\nconfig = NPURunConfig(iterations_per_loop=5)\n"
    )
    assert [str(script)] == list(walk(str(tmp_path)))
    assert not find_project(str(tmp_path), load_all).path
    assert any_neighbour_has(str(script), ("npu_init",)) is False
    assert any_importer_has(str(script), ("npu_init",)) is False
