"""What is written, over what, and how it is taken back: git, copies of a tree, --check."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

from npu_config.cli import migrate
from tests.migrate.test_command import DONE, PLAIN, npu

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


def git(folder, *arguments):
    """Run git in a folder, as somebody."""
    names = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]
    done = subprocess.run(
        ["git", "-C", str(folder), *names, *arguments], stdout=subprocess.PIPE, check=True
    )
    return done.stdout.decode()


@pytest.fixture
def project(tmp_path):
    """A repository with two scripts that are committed."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("a.py", "b.py"):
        (folder / name).write_text(PLAIN)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "x")
    return folder


def test_uncommitted_changes(project):
    """A file with changes that are not committed stays; --force writes it, too."""
    (project / "a.py").write_text(PLAIN + "# mine\n")
    (project / "new.py").write_text(PLAIN)
    result = npu("--write", project)
    assert result.exit_code == 1
    assert (project / "a.py").read_text() == PLAIN + "# mine\n"
    assert (project / "new.py").read_text() == PLAIN
    assert (project / "b.py").read_text() == DONE
    assert "a.py: error: the file has uncommitted changes" in result.stdout
    assert "new.py: error: git does not track this file" in result.stdout
    assert npu("--write", "--force", project).exit_code == 0
    assert (project / "a.py").read_text() == DONE + "# mine\n"


def test_how_to_undo(project):
    """The command that is printed takes everything back."""
    result = npu("--write", project)
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("to undo: ")]
    subprocess.run(line[len("to undo: ") :], shell=True, check=True)
    assert (project / "a.py").read_text() == (project / "b.py").read_text() == PLAIN
    assert git(project, "status", "--porcelain") == ""


def test_a_submodule(project, tmp_path):
    """A file of a submodule is looked for in its own repository."""
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "submodule", "add", "-q", str(project), "inner")
    git(outer, "commit", "-qm", "x")
    (outer / "inner" / "a.py").write_text(PLAIN + "\n")
    result = npu("--write", outer)
    assert (outer / "inner" / "a.py").read_text() == PLAIN + "\n"
    assert (outer / "inner" / "b.py").read_text() == DONE
    assert "git -C {} checkout -- b.py".format(outer / "inner") in result.stdout


def test_check(project):
    """Nothing is written; 1 where something would change, 0 where it is done."""
    result = npu("--check", project)
    assert (result.exit_code, "+++" in result.stdout) == (1, False)
    assert "2 changed" in result.stdout
    assert git(project, "status", "--porcelain") == ""
    npu("--write", project)
    assert npu("--check", project).exit_code == 0
    assert npu("--check", "--write", project).exit_code == 2
    assert npu("--force", project).exit_code == 2


def test_what_asks_for_nothing(project):
    """Notes that ask for nothing never decide the exit code, and are of severity info."""
    (project / "a.py").write_text(PLAIN + "c = tf.ConfigProto()\nc.gpu_options.allow_growth = 1\n")
    result = npu("--report", "json", project)
    entries = [one for file in json.loads(result.stdout)["files"] for one in file["entries"]]
    assert {one["severity"] for one in entries if one["kind"] != "changed"} == {"info"}
    assert result.exit_code == 0


def test_a_copy_is_whole(project, tmp_path):
    """What a call that was killed has left is taken away; what is not copied is said."""
    (project / "build").mkdir()
    (project / "build" / "made.py").write_text("x = 1\n")
    outside = tmp_path / "outside.txt"
    outside.write_text("secret\n")
    (project / "link.txt").symlink_to(outside)
    (project / "inner.py").symlink_to("a.py")
    output = tmp_path / "out"
    left = tmp_path / ".out.npu_config-part-9999999"
    mine = tmp_path / ".out.npu_config-part-mine"
    for folder in (left, mine):
        folder.mkdir()
        (folder / "half.py").write_text("")
    result = npu("--output", output, project)
    assert sorted(os.listdir(str(output))) == ["a.py", "b.py", "inner.py"]
    assert os.readlink(str(output / "inner.py")) == "a.py"
    assert (left.exists(), mine.exists()) == (False, True)
    assert "build (a hidden or build directory)" in result.stderr
    assert "link.txt (a link that points outside the directory)" in result.stderr


KILLED_AT_ITS_20TH_FILE = """
import os, signal, sys
from npu_config.__main__ import main
from npu_config.cli import migrate

copy_one, names = migrate._copy_one, []

def copy(*arguments):
    names.append(arguments)
    if len(names) == 20:
        os.kill(os.getpid(), signal.SIGKILL)
    copy_one(*arguments)

migrate._copy_one = copy
main(["migrate", *sys.argv[1:]])
"""


def test_a_copy_that_is_killed(tmp_path):
    """Nothing is under the name of the output; another call gives what one alone would."""
    project = tmp_path / "project"
    project.mkdir()
    for number in range(60):
        (project / "m{}.py".format(number)).write_text(PLAIN)
    output = tmp_path / "out"
    command = [sys.executable, "-c", KILLED_AT_ITS_20TH_FILE, "--output", str(output)]
    killed = subprocess.run([*command, str(project)], stdout=subprocess.DEVNULL)
    (part,) = (one for one in tmp_path.iterdir() if one.name.startswith(".out."))
    assert len(list(part.iterdir())) == 19
    assert (killed.returncode, output.exists()) == (-signal.SIGKILL, False)
    assert npu("--output", output, project).exit_code == 0
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out", "project"]
    assert {one.read_text() for one in output.iterdir()} == {DONE}
    assert len(list(output.iterdir())) == 60


def test_two_copies_at_once(project, tmp_path, monkeypatch):
    """The second does not touch what the first is writing; one of them is there, whole."""
    copy_one = migrate._copy_one
    results = []

    def first(*arguments):
        monkeypatch.setattr(migrate, "_copy_one", copy_one)
        monkeypatch.setattr(os, "getpid", lambda: 7)
        results.append(npu("--output", tmp_path / "out", project))
        copy_one(*arguments)

    monkeypatch.setattr(migrate, "_copy_one", first)
    last = npu("--output", tmp_path / "out", project)
    assert (results[0].exit_code, last.exit_code) == (0, 2)
    assert "out cannot be written: " in last.stderr
    assert {one.read_text() for one in (tmp_path / "out").iterdir()} == {DONE}
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out", "project"]


TRAINING = """\
import tensorflow as tf
tf.set_random_seed(3)
w = tf.Variable(tf.random_normal([4]))
loss = tf.reduce_sum(tf.square(w - 1.0))
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(1000):
        print("loss", sess.run([step, loss])[1])
"""


@pytest.mark.tensorflow
def test_run(tmp_path):
    """Before and after print the same losses; a script that ends in an error is not compared."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(TRAINING)
    (project / "wrong.py").write_text(TRAINING.replace("range(1000)", "nothing"))
    result = npu("--output", tmp_path / "out", "--run", "--steps", "3", project)
    assert "train.py: the same numbers before and after: " in result.stdout
    assert (
        "wrong.py: not compared: before the migration the script ends with exit code 1: "
        in result.stdout
    )
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("line", "numbers"),
    [
        ("8/8 - 0s 12ms/step - loss: 0.5 - acc: nan", "8.0 8.0 0.5 nan"),
        ("2026-01-02 03:04:05,678 step 3 loss = 1e-3 (0.25 sec)", "3.0 0.001"),
        ("Epoch 3, loss 2.5, elapsed 00:01:02, 31.5 it/s", "3.0 2.5"),
        ("step 4 sums 7 loss -2", "4.0 7.0 -2.0"),
    ],
)
def test_times_are_not_compared(line, numbers):
    """Dates, clocks and durations differ in every run."""
    assert " ".join(map(str, migrate._numbers("started at 9\n" + line))) == numbers


@pytest.mark.parametrize(
    ("printed", "same"),
    [([[1.0], [1.0]], True), ([[1.0], [2.0], [1.0]], False), ([[1.0], [2.0], [3.0]], None)],
)
def test_numbers_of_no_seed(monkeypatch, printed, same):
    """A script whose numbers are others in every run says nothing of the migration."""
    runs = iter(printed)
    monkeypatch.setattr(migrate, "_printed", lambda *arguments: next(runs))
    assert migrate.compare("a.py", "a.py", "b.py", 3).same is same
    assert next(runs, None) is None


def test_run_requires_a_copy(project, tmp_path):
    """2, and what is missing."""
    for options in (["--run"], ["--steps", "3"], ["--run", "--write"]):
        result = npu(*options, project)
        assert (result.exit_code, " requires --" in result.stderr) == (2, True)


def test_a_disk_that_is_full(project, tmp_path, monkeypatch):
    """Nothing is left under the name of the output."""

    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(migrate, "_copy_one", full)
    result = npu("--output", tmp_path / "out", project)
    assert (result.exit_code, sorted(os.listdir(str(tmp_path)))) == (1, ["project"])
    assert "No space left on device" in result.stdout


def test_headings_of_keras_are_no_losses():
    """What is printed before the first step of training is not compared."""
    heads = "Train on 64 samples, validate on 8 samples\nEpoch 1/3\n"
    assert migrate._numbers(heads) == []
    assert migrate._numbers(heads + "64/64 - loss: 0.5\n") == [64.0, 64.0, 0.5]
