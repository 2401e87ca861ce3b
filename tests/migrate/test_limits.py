"""Both sides of what a note depends on."""

import pytest

import npu_config

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
