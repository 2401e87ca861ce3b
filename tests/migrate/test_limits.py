"""Both sides of what a note depends on."""

import pytest

import npu_config
from npu_config.migration import launch, project
from npu_config.migration.project import FileToMigrate, migrate_files

SHUFFLE = """\
import sys
import tensorflow as tf
SMALL, LARGE, OTHER = 100, 10001, int(sys.argv[1])
if OTHER:
    SEVERAL = 20000
else:
    SEVERAL = 5
data = tf.data.Dataset.range(8).shuffle({})
"""


def ids_of(text):
    """The facts that a migration notes."""
    return {note.id for note in npu_config.migrate(text).notes}


@pytest.mark.parametrize("size", ["10001", "20000.0", "LARGE", "SMALL * 101", "SMALL * SMALL * 2"])
def test_a_large_shuffle_buffer(size):
    """A number above 10000, also one that constants of the script make."""
    assert "shuffle-buffer" in ids_of(SHUFFLE.format(size))


@pytest.mark.parametrize(
    "size",
    [
        *("10000", "9999", "SMALL", "SMALL * SMALL", "SMALL * 3", "-20000", "'20000'"),
        *("OTHER", "OTHER * 20000", "20000 * OTHER", "SEVERAL", "SMALL + 20000", "LARGE - 1"),
    ],
)
def test_no_large_shuffle_buffer(size):
    """A number up to 10000, and what is not known."""
    assert "shuffle-buffer" not in ids_of(SHUFFLE.format(size))


FLAGS = """\
import sys
import tensorflow as tf
flags = tf.app.flags
flags.DEFINE_bool("on", True, "")
flags.DEFINE_bool("off", False, "")
flags.DEFINE_integer("three", 3, "")
flags.DEFINE_string("text", "a", "")
flags.DEFINE_string("empty", "", "")
F = flags.FLAGS
UNKNOWN = len(sys.argv)
def batch():
    if {}:
        return tf.train.batch([1], 2, num_threads=F.three)
    return 1
with tf.Session() as sess:
    sess.run(batch())
"""


@pytest.mark.parametrize(
    "condition",
    [
        *("F.on", "not F.off", "F.on and F.three", "F.off or F.on", "not (F.off and UNKNOWN)"),
        *("F.three == 3", "F.three > 2", "F.three >= 3", "F.three < 4", "F.three <= 3", "F.text"),
        *("F.text == 'a'", "F.text != 'b'", "F.text in ('a', 'b')", "F.text not in ('b',)"),
        *("F.text is not None", "not F.empty", "not not F.on", "F.off is False", "True", "1"),
    ],
)
def test_what_holds_by_default(condition):
    """What is done by default asks for something, and what stands behind else does not."""
    assert "train-batch" in asked(FLAGS.format(condition))
    assert "train-batch" not in asked(FLAGS.format("not ({})".format(condition)))


@pytest.mark.parametrize(
    ("size", "outcome"), [(-1, "too large"), (0, "not too large"), (1, "not too large")]
)
def test_the_largest_file(tmp_path, monkeypatch, size, outcome):
    """A file of the largest size is migrated, one that is a byte larger is not read."""
    text = b"import tensorflow as tf\nwith tf.Session() as sess:\n    sess.run(1)\n"
    monkeypatch.setattr(project, "LARGEST", len(text) + size)
    (tmp_path / "a.py").write_bytes(text)
    for content in (text, None):
        target = FileToMigrate(str(tmp_path / "a.py"), None, content)
        (found,) = migrate_files([target], processes=1)
        assert (found.migration is None) is (outcome == "too large")


@pytest.mark.parametrize(("size", "is_looked_at"), [(1999, True), (2000, False)])
def test_the_longest_text_that_may_be_a_command(size, is_looked_at):
    """A longer one is data."""
    command = "nvidia-smi".ljust(size)
    text = "import os\nimport tensorflow as tf\nos.system({!r})\n".format(command)
    assert is_looked_at == ("nvidia-smi" in ids_of(text))


@pytest.mark.parametrize(("lines", "number"), [(1, 8), (2, 8), (40, 8), (41, None)])
def test_the_longest_command_of_a_shell_script(lines, number):
    """What stands further behind a launcher is not read with it."""
    text = "echo\nmpirun \\\n" + "  -x A \\\n" * (lines - 1) + "  -np 8 train.py\nsrun -n 3 x.py\n"
    first, second = launch.shell_notes(text)
    assert (first.line, second.line) == (2, lines + 3)
    said = "the same number of processes" if number is None else "8 processes"
    assert first.note.startswith("start " + said)
    assert ("train.py" in first.note) == (number is not None)
    assert second.note.startswith("start 3 processes")


@pytest.mark.parametrize(
    ("processes", "cores", "files", "shared"),
    [
        *((2, 1, 40, True), (2, 1, 39, False), (1, 4, 40, False), (None, 4, 40, True)),
        *((None, 1, 40, False), (None, None, 40, False)),
    ],
)
def test_when_processes_share_the_work(monkeypatch, processes, cores, files, shared):
    """From 40 files on, where more than one process is asked for or there are cores for them."""
    asked_for = []

    def in_processes(look, works, count, apart):
        asked_for.append(count)
        return map(look, works)

    monkeypatch.setattr(project, "in_processes", in_processes)
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    targets = [FileToMigrate("{}.py".format(n), content=b"x = 1\n") for n in range(files)]
    seen = []
    migrate_files(targets, processes=processes, progress=seen.append)
    assert asked_for == ([processes or cores] if shared else [])
    assert seen == ([20, 20] if files == 40 else [20, 19])


def test_a_file_of_more_than_64_megabytes(tmp_path):
    """It is not read."""
    with (tmp_path / "a.py").open("wb") as stream:
        stream.truncate(64 * 1024 * 1024 + 1)
    (found,) = migrate_files([FileToMigrate(str(tmp_path / "a.py"))], processes=1)
    assert [one.rule for one in found.diagnostics] == ["NPU703"]


def asked(text):
    """The facts about which something is left to do."""
    return {note.id for note in npu_config.migrate(text).notes if note.must}
