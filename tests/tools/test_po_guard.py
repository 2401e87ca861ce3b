"""A broken .po file is refused, and stays as it is."""

import sys

import pytest

pytest.importorskip("babel")

from tools import messages, po_guard

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 9), reason="sentences are collected with the ast of Python 3.9"
)


def half(text):
    """The first half of the entries."""
    return "".join(text[: len(text) // 2].rpartition("\n\n")[:2])


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda text: text + '<<<<<<< ours\nmsgid "x"\n', "a conflict of a merge is left"),
        (lambda text: text + '\nmsgid ""\nmsgstr "甲"\n', "the entry has no msgid"),
        (half, "sentences would have no Chinese"),
        (lambda text: "", "sentences would have no Chinese"),
    ],
)
def test_a_broken_catalogue_is_refused(damage, words, monkeypatch, tmp_path, capsys):
    """Conflict markers, entries without msgid, a lost half: said, and nothing is written."""
    broken = tmp_path / "npu_config.po"
    broken.write_text(damage(messages.PO.read_text("utf-8")), "utf-8")
    before = broken.read_bytes()
    monkeypatch.setattr(messages, "PO", broken)
    monkeypatch.setattr(messages, "sentences", lambda: {text: set() for text in WHOLE})
    assert messages.main(["update"]) == 1
    said = capsys.readouterr().out
    assert words in said
    assert "nothing was written" in said
    assert broken.read_bytes() == before


WHOLE = [
    each.id if isinstance(each.id, str) else each.id[0] for each in messages.load() if each.id
]


def test_the_catalogues_are_whole():
    """Those of the repository are not refused."""
    assert [po_guard.faults(path) for path in (messages.PO, messages.rule_pages.PO)] == [[], []]


def test_much_is_lost():
    """A tenth of the translations at once is more than a change takes away."""
    assert po_guard.loss("x.po", 1000, 0, 1000, 950) == []
    assert po_guard.loss("x.po", 1000, 0, 1000, 800) == ["x.po: 200 of 1000 translations would go"]
