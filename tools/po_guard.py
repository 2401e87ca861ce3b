"""What a .po file must be before tools write it anew: whole, and without conflicts.

A file whose entries were lost reads as a smaller one, and would be written as such.
"""

import re
from pathlib import Path
from typing import List, Sequence

MOST_WAITING = 0.1
"""The part of the sentences that may be without Chinese: new ones of a branch are far fewer."""

_SHOWN = 10
_CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7})", re.M)
_EMPTIED = re.compile(r'^msgid ""\nmsgstr (?!""\n"[A-Z][A-Za-z-]+: )', re.M)
"""An entry without words that is not the header."""


def faults(path: Path) -> List[str]:
    """What is wrong in a file, with the lines."""
    text = path.read_text("utf-8")
    return [
        "{}:{}: {}".format(path, text.count("\n", 0, match.start()) + 1, fault)
        for pattern, fault in (
            (_CONFLICT, "a conflict of a merge is left"),
            (_EMPTIED, "the entry has no msgid"),
        )
        for match in pattern.finditer(text)
    ]


def loss(path: Path, sentences: int, waiting: int, before: int, after: int) -> List[str]:
    """What would be lost: more sentences wait than a change explains, or many are gone.

    Args:
        path: the file.
        sentences: how many there are now.
        waiting: how many of them have no translation.
        before: how many translations the file has.
        after: how many it would have.
    """
    found = []
    if waiting > MOST_WAITING * sentences:
        found.append(
            "{}: {} of {} sentences would have no Chinese".format(path, waiting, sentences)
        )
    if before - after > MOST_WAITING * before:
        found.append("{}: {} of {} translations would go".format(path, before - after, before))
    return found


def advice(found: Sequence[str]) -> str:
    """The faults, and what to do."""
    shown = [*found[:_SHOWN], *(["... {} in all".format(len(found))] if found[_SHOWN:] else [])]
    return "".join(line + "\n" for line in shown) + (
        "nothing was written: restore the file (git checkout), merge it again, or, where this is "
        "right, say --force\n"
    )
