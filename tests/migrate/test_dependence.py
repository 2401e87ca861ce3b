"""A refusal keeps unedited only what depends on it, and says so; what only looks like it does not.

The scripts are in ``dependence.txt``.
"""

import re
from pathlib import Path

import pytest

import npu_config
from npu_config.migration.engine import analyse

HEAD = "import tensorflow as tf\n"
SESSION = "with tf.Session() as sess:\n    pass\n"
TEXT = (Path(__file__).parent / "dependence.txt").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"^@ ([^\n]*)\n(.*?)(?=^@|\Z)", TEXT, re.M | re.S)


def stays(source, partial=False):
    """What stays unedited of a script with one session at its end."""
    migration = analyse(HEAD + source + SESSION, partial=partial).migration
    if not migration.edits:
        return "all"
    is_part = any("all code in this function" in note.note for note in migration.notes)
    return "rest" if is_part else "nothing"


@pytest.mark.parametrize(("expected", "source"), [s for s in SCRIPTS if "table" not in s[0]])
def test_what_stays_unedited(expected, source):
    """Nothing, the function or the whole script, by what depends on it."""
    assert expected == stays(source)


@pytest.mark.parametrize(("expected", "source"), [s for s in SCRIPTS if "table" in s[0]])
def test_tables_in_functions_of_datasets(expected, source):
    """Lambdas, methods, functions by name, partial ones, and objects that are called."""
    ids = [note.id for note in npu_config.migrate(HEAD + source).notes]
    assert (expected == "table") == ("table-in-preprocessing" in ids)


@pytest.mark.parametrize(
    "source",
    ["tf.contrib.cudnn_rnn.CudnnLSTM(1, 2)\n", "tf.enable_eager_execution()\n"],
)
def test_partial(source):
    """With --partial the rest is edited, and the refused line says so."""
    assert stays(source) == "all"
    found = analyse(HEAD + source + SESSION, partial=True).migration
    assert found.edits
    assert [note.kind for note in found.notes if "--partial" in note.note] == ["refused"]


def test_horovod_stays_whole():
    """All of Horovod or nothing, with --partial, too."""
    source = "import horovod.tensorflow as hvd\nhvd.init()\nx = hvd.alltoall(1)\n"
    assert stays(source, partial=True) == "all"


@pytest.mark.parametrize("is_always", [False, True])
def test_horovod_under_an_off_flag(is_always):
    """It is to know, and an import that is always done has to go."""
    lines = ["tf.app.flags.DEFINE_bool('x', False, '')", "if tf.app.flags.FLAGS.x:"]
    lines += ["    import horovod.tensorflow as hvd", "    hvd.alltoall(1)", ""]
    if is_always:
        lines = [lines[2].strip(), *lines[:2], *lines[3:]]
    found = npu_config.migrate(HEAD + "\n".join(lines) + SESSION)
    assert "hvd.alltoall" in found.text
    assert [note.id for note in found.notes if note.must] == ["hvd-import"] * is_always


OPTIMIZERS = """\
from other import imported
TABLE = {'a': tf.train.AdamOptimizer}
def f():
    o = tf.train.AdamOptimizer()
    return o
def g():
    return imported()
"""


@pytest.mark.parametrize(
    ("optimizer", "is_edited"),
    [
        ("f()", True),
        ("g()", False),
        ("imported()", False),
        ("f() if f else tf.train.AdamOptimizer()", True),
        ("TABLE['a'](0.1)", True),
    ],
)
def test_the_optimizer_of_a_loss_scale(optimizer, is_edited):
    """It is wrapped where it is certainly one of tf.train, through variables and functions."""
    rewrite = "tf.train.experimental.enable_mixed_precision_graph_rewrite"
    source = HEAD + OPTIMIZERS + "p = {}({})\n".format(rewrite, optimizer)
    assert is_edited == ("NPULossScaleOptimizer" in npu_config.migrate(source).text)
    used = source + "p.minimize(1, global_step=step)\n"
    assert "p = NPULossScaleOptimizer" in npu_config.migrate(used).text
