"""Positions in units of UTF-16."""

from hypothesis import given
from hypothesis import strategies as st

from npu_config.core.diagnostics import Place
from npu_config.editor.lines import Lines, units

TEXTS = st.text("ab\n\r\té😀\ud83d\u2028\x0c", max_size=30)


@given(TEXTS, st.integers(0, 40))
def test_there_and_back(text, offset):
    """An offset is that of its position, unless it lies inside of the end of a line."""
    lines = Lines(text)
    offset = min(offset, len(text))
    if text[offset - 1 : offset + 1] != "\r\n" or not offset:
        assert lines.offset(*lines.position(offset)) == offset


@given(TEXTS, st.integers(0, 2**31), st.integers(0, 2**31))
def test_any_position_is_in_the_text(text, line, character):
    """What lies outside is brought to the nearest place inside."""
    assert 0 <= Lines(text).offset(line, character) <= len(text)


@given(TEXTS)
def test_units(text):
    """The units are those that UTF-16 has."""
    assert units(text) * 2 == len(text.encode("utf-16-le", "surrogatepass"))


def test_inside_of_a_pair():
    """The second half of a pair is no place of its own."""
    lines = Lines("a😀b")
    assert [lines.offset(0, n) for n in range(5)] == [0, 1, 1, 2, 3]


def test_places():
    """Lines and columns of findings, which count from 1; a whole line; nothing known."""
    lines = Lines("é😀: 1\nab: 2\n")
    assert lines.of_place(Place(None, 1, 3, 1, 4)) == ((0, 3), (0, 4))
    assert lines.of_place(Place(None, 2)) == ((1, 0), (1, 5))
    assert lines.of_place(Place()) == ((0, 0), (0, 0))
    assert lines.of_place(Place(None, 9, 9, 9, 9))[0] == (2, 0)
