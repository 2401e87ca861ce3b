"""Tables as CSV: what spreadsheets would compute, and what is read again."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_config.dumps.reference import _index
from npu_config.text.tables import COLUMNS, INDEX, Exported, csv_text, index_text, unguarded

FORMULAS = ("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1", "\r=1", "'=1", "''=1", "=")
TEXTS = st.one_of(
    st.sampled_from(FORMULAS),
    st.text(st.characters(blacklist_characters="\0")),
    st.floats().map(str),
)


def read(text):
    """The cells of a table."""
    return list(csv.reader(io.StringIO(text, newline="")))


@given(st.lists(st.lists(TEXTS, min_size=1), max_size=5))
def test_cells(rows):
    """No cell begins like a formula unless it is a number, and every text is got back."""
    found = read(csv_text(rows))
    for cell in (cell for row in found for cell in row):
        if cell[:1] in tuple("=+-@\t\r"):
            assert isinstance(float(cell), float)
    assert [[unguarded(cell) for cell in row] for row in found] == [list(row) for row in rows]


def test_numbers_stay():
    """As numbers, and as texts."""
    assert csv_text([[-1, "-0.500000", "+1e5", 2.5]]) == "-1,-0.500000,+1e5,2.5\n"


@pytest.mark.parametrize("node", FORMULAS)
def test_the_index_of_an_export(tmp_path, node):
    """A node of any name is no formula in index.csv, and is found again by its name."""
    line = Exported(0, "run_0/a.npy", node, 0, 0, "output", "", "float32", "2", 1, "ok")
    path = tmp_path / INDEX
    path.write_bytes(index_text([line]).encode("utf-8"))
    _, cells = read(path.read_bytes().decode("utf-8"))
    assert cells[COLUMNS.index("node")][0] == "'"
    if "\r" not in node:  # the reader goes by lines
        assert [each.node for each in _index(str(tmp_path)) or ()] == [node]
