"""The Chinese of the pages of rules: ``python -m tools.rule_pages [BEGINNING]``.

The pages are docstrings, in English; ``rule_pages.zh_CN.po`` has the Chinese of each paragraph
below their titles, by its English words.  Without an argument this enters new paragraphs, removes
those that are gone, and prints how many wait; with one it prints those of the rules whose ids
begin so.
``tools.generate`` shows English where there is none.
"""

import io
import re
import sys
from pathlib import Path
from typing import Dict, Iterator, List, Sequence

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from npu_config.core.diagnostics import Rule
from npu_config.rulebook import load_all
from tools import po_guard
from tools.explained import paragraphs

PO = Path(__file__).with_name("rule_pages.zh_CN.po")

_CODE = re.compile(r"``[^`]+``|`[^`]+`|^(Wrong|Right):")
"""What is the same in every language; the headings are translated by themselves."""

_known: Dict[str, str] = {}


def translation(paragraph: str) -> str:
    """The Chinese of a paragraph; empty where there is none."""
    if not _known:
        _known.update(_read())
    return _known.get(folded(paragraph), "")


def folded(paragraph: str) -> str:
    """A paragraph as one line, which does not change when its lines are broken elsewhere."""
    return re.sub(r"\s+", " ", paragraph).strip()


def wanted(rule: Rule) -> Iterator[str]:
    """The paragraphs of a rule's page that want a translation."""
    for text, is_code in paragraphs(rule):
        if (
            not is_code
            and not text.startswith("<!--")
            and re.search("[A-Za-z]{2}", _CODE.sub("", text))
        ):
            yield folded(text)


def _read() -> Dict[str, str]:
    with PO.open("rb") as stream:
        return {str(each.id): str(each.string) for each in read_po(stream) if each.string}


def waiting() -> List[str]:
    """The paragraphs without a translation."""
    known = _read()
    texts = dict.fromkeys(text for rule in load_all() for text in wanted(rule))
    return [text for text in texts if text not in known]


def loss() -> List[str]:
    """Why the file must not be written anew: too much of it would be lost."""
    known = set(_read())
    texts = {text for rule in load_all() for text in wanted(rule)}
    return po_guard.loss(PO, len(texts), len(texts - known), len(known), len(known & texts))


def update() -> None:
    """Enter new paragraphs into the file, and take away those that are gone."""
    known, new = _read(), Catalog(locale="zh_CN")
    for rule in load_all():
        for text in wanted(rule):
            new.add(text, known.get(text, ""), auto_comments=() if text in new else (rule.id,))
    written = io.BytesIO()
    write_po(written, new, width=0, omit_header=True)
    PO.write_bytes(written.getvalue())


def main(arguments: Sequence[str]) -> int:
    """Do what the arguments say; returns the exit code."""
    if arguments:
        for rule in load_all():
            for text in wanted(rule) if rule.id.startswith(arguments[0]) else ():
                if not translation(text):
                    print("{}: {}".format(rule.id, text))
        return 0
    update()
    print("{} paragraphs wait for their Chinese".format(len(waiting())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
