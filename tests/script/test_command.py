"""``npu-config check`` on scripts: what it does to files, and what it leaves alone."""

import io
import os
import sys

import pytest

pytest.importorskip("click")

from npu_config.__main__ import main
from npu_config.cli import _output
from npu_config.cli._fix import difference

HEAD = """\
import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
"""
WRONG = 'custom_op.parameter_map["hcom_paralel"].b = True\n'
RIGHT = 'custom_op.parameter_map["hcom_parallel"].b = True\n'
TAIL = "sess = tf.Session(config=config)\n"


@pytest.fixture
def script(tmp_path, monkeypatch):
    """A script with a misspelt name, in the working directory."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "train.py"
    path.write_text(HEAD + WRONG + TAIL)
    return path


def check(capsys, *arguments):
    """Run the command; its code, output and errors."""
    capsys.readouterr()
    code = main(["check", *map(str, arguments)])
    return (code, *capsys.readouterr())


@pytest.mark.parametrize("before", ["\ufeff", "", "# -*- coding: gbk -*-\n# 模式\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_fix_keeps_the_bytes(script, capsys, before, end):
    """Line ends, encoding, byte order mark and a last line without an end stay as they are."""
    encoding = "gbk" if "gbk" in before else "utf-8"
    text = before + HEAD + "x = '\x0c\x85\u2028'; " + TAIL + WRONG
    text = text.replace("\x85\u2028", "") if encoding == "gbk" else text
    data = text.rstrip("\n").replace("\n", end).encode(encoding)
    script.write_bytes(data)
    code, _, err = check(capsys, "--fix", script)
    assert (code, err) == (0, "1 fixed\n")
    assert data.replace(b"paralel", b"parallel") == script.read_bytes()
    assert check(capsys, "--fix", script)[2] == ""


def test_fix_leaves_a_read_only_file(script, capsys, monkeypatch):
    """Moving a new file into its place would do it, but nobody asked for that."""
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    code, out, _ = check(capsys, "--fix", "train.py")
    assert code == 1
    assert "train.py: error: this user is not allowed to write the file" in out
    assert script.read_text() == HEAD + WRONG + TAIL


def test_fix_through_a_link(script, capsys):
    """A file and a link to it are fixed once; the link stays one."""
    link = script.with_name("link.py")
    link.symlink_to("train.py")
    code, out, err = check(capsys, "--fix", ".")
    assert (code, err) == (0, "1 fixed\n")
    assert "error" not in out
    assert link.is_symlink()
    assert script.read_text() == HEAD + RIGHT + TAIL


@pytest.mark.parametrize("encoding", ["idna", "unicode_escape", "utf-7"])
def test_fix_of_an_encoding_that_is_only_read(script, capsys, encoding):
    """A text that could not be written back as it was is left alone."""
    data = "# coding: {}\n".format(encoding) + HEAD + WRONG + TAIL + "# {}\n".format("x" * 80)
    script.write_bytes(data.encode("ascii"))
    check(capsys, "--fix", script)
    written = script.read_bytes()
    assert written in (data.encode("ascii"), data.replace("paralel", "parallel").encode("ascii"))


def test_diff_says_why_it_fails(script, capsys):
    """Where nothing can be fixed the code is 1 all the same; the numbers go to standard error."""
    script.write_text(HEAD + 'custom_op.parameter_map["graph_run_mode"].i = 7\n' + TAIL)
    assert check(capsys, "--diff", script) == (1, "", "1 error, 1 note in 1 file\n")
    script.write_text(HEAD + WRONG + TAIL)
    code, out, err = check(capsys, "--diff", script)
    assert (code, err) == (1, "1 error, 1 note in 1 file\n")
    assert "-" + WRONG + "+" + RIGHT in out
    assert script.read_text() == HEAD + WRONG + TAIL


def test_difference_of_odd_characters():
    """Only a line feed ends a line of a diff."""
    before = "a\x0cb\n\x0b\x1c\x85\u2028\nold\r\nlast"
    found = difference("x.py", before, before.replace("old", "new"))
    assert found == (
        "--- a/x.py\n+++ b/x.py\n@@ -1,4 +1,4 @@\n a\x0cb\n \x0b\x1c\x85\u2028\n-old\r\n+new\r\n"
        " last\n\\ No newline at end of file\n"
    )


@pytest.mark.parametrize(
    ("path", "header"),
    [
        ("x.py", "--- a/x.py\n"),
        ("/x/y.py", "--- a/x/y.py\n"),
        ("a b.py", "--- a/a b.py\t\n"),
        ("模式.py", "--- a/模式.py\n"),
        ('q"\\\n.py', '--- "a/q\\"\\\\\\012.py"\n'),
        ("\udcff.py", '--- "a/\\377.py"\n'),
    ],
)
def test_difference_names_its_file(path, header):
    """As git does: in quotes where the name would not be read as it is."""
    assert difference(path, "a\n", "b\n").startswith(header)


@pytest.mark.parametrize("named", [".", "./sub", "../tree", "{}"])
def test_differences_of_folders_fit_the_tree(named, tmp_path, monkeypatch, capsys):
    """git apply refuses a/./x.py: a path is that from the current folder, however it is named."""
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    (tree / "sub" / "train.py").write_text(HEAD + WRONG + TAIL)
    monkeypatch.chdir(tree)
    out = check(capsys, "--fix", "--diff", named.format(tree))[1]
    assert "--- a/sub/train.py\n+++ b/sub/train.py\n" in out


def test_paths_without_a_dot(script, capsys):
    """Files are named as other tools name them, and looked at once."""
    out = check(capsys, ".", "./train.py", script, ".//train.py")[1]
    assert out.startswith("train.py:7:")
    assert "1 error in 1 file\n" in out


def test_standard_input_is_read_once(script, capsys, monkeypatch):
    """However often it is named."""
    stream = io.TextIOWrapper(io.BytesIO(script.read_bytes()), "utf-8")
    monkeypatch.setattr(sys, "stdin", stream)
    assert "1 error in 1 file\n" in check(capsys, "-", "-")[1]


def test_select_does_not_hide_what_was_not_checked(script, capsys):
    """A script that cannot be parsed or decoded is told of in any case."""
    script.write_text(HEAD + 'print "x"\n')
    assert "NPU830" in check(capsys, "--select=NPU101", script)[1]
    script.write_bytes(HEAD.encode() + b"# \xff\n")
    assert "NPU831" in check(capsys, "--select=NPU101", script)[1]


def test_baseline_is_not_overwritten(script, capsys):
    """Neither a baseline nor any other file, unless that is asked for."""
    known = script.with_name("known.json")
    assert check(capsys, script, "--write-baseline", known)[::2] == (
        0,
        "2 findings written to {}\n".format(known),
    )
    script.write_text(HEAD + WRONG + WRONG.replace("paralel", "parallell") + TAIL)
    before = known.read_text()
    code, _, err = check(capsys, script, "--write-baseline", known)
    assert (code, "--force" in err, before) == (2, True, known.read_text())
    assert check(capsys, script, "--write-baseline", script)[0] == 2
    assert check(capsys, script, "--write-baseline", known, "--force")[0] == 0
    assert before != known.read_text()
    code, _, err = check(capsys, script, "--write-baseline", script.parent, "--force")
    assert (code, "None" in err) == (2, False)


def test_interrupted(script, capsys, monkeypatch):
    """The code is that of shells, and no other one."""

    def interrupt(*arguments, **keywords):
        raise KeyboardInterrupt

    monkeypatch.setattr("npu_config.judging.batch.judge_scripts", interrupt)
    code, out, err = check(capsys, script)
    assert (code, out) == (130, "")
    assert "Traceback" not in err


def test_output_that_cannot_be_written(script, capsys, monkeypatch):
    """A full disk is no traceback."""

    class Full(io.StringIO):
        def write(self, text):
            raise OSError(28, "No space left on device")

    stream = sys.stdout
    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(_output.Failure, match="No space left"):
        _output.say("x")
    monkeypatch.setattr(sys, "stdout", stream)
