"""Results that nothing reads, where other scripts stand near the script."""

from npu_config.script import judge_script

MODULE = """\
from npu_bridge.npu_init import *

dump_config = DumpConfig(enable_dump=True, dump_path="/tmp")


class Trainer:
    def __init__(self, sess, optimizer):
        self.loop_op = util.set_iteration_per_loop(sess, optimizer, 10)


if __name__ == "__main__":
    profiling_config = ProfilingConfig(enable_profiling=True, profiling_options="{}")
"""


def lines(folder, other, where="other.py"):
    """The lines of results that are said to be unread, beside another script."""
    path = folder / "package" / "script.py"
    path.parent.mkdir()
    path.write_text(MODULE)
    (folder / where).write_text(other)
    found = judge_script(MODULE, str(path))
    return sorted(f.line for f in found if f.rule in ("NPU861", "NPU880"))


def test_alone(tmp_path):
    """A program whose names no script near it knows."""
    assert lines(tmp_path, "import os\n") == [3, 8, 12]


def test_name_is_imported(tmp_path):
    """A name of the module is known to a script above it; one of the program itself is not."""
    other = "from package.script import dump_config, profiling_config\n"
    assert lines(tmp_path, other) == [8, 12]


def test_attribute_is_read(tmp_path):
    """An attribute is known to a script beside it."""
    assert lines(tmp_path, "print(trainer.loop_op)\n", "package/other.py") == [3, 12]


def test_name_in_a_comment(tmp_path):
    """A comment reads nothing."""
    assert lines(tmp_path, "# dump_config, x.loop_op\n") == [3, 8, 12]
