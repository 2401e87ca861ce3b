"""What ``npu-config explain`` explains, and the search in it.

Read from a file for each language (``npu_config/locale/topics.LANGUAGE.jsonl``, one topic in
each line), which ``tools.generate`` makes: no rule has to be imported.
"""

import functools
import json
import os
import re
from typing import Any, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.message import LANGUAGES, LOCALES, language
from npu_config.core.paths import reading

KINDS = ("option", "rule", "variable", "argument", "migration", "api", "guide")
FAILURES = ("code", "failure")
"""The kinds of what logs show, which are in no file of topics."""
_NAMED = ("option", "rule", "variable", "api")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*[-_.]\w[-.\w]*\Z")
FORMER = "former"
"""The kind of names that older adapters read: they are explained, not listed."""

PATH = os.path.join(LOCALES, "topics.{}.jsonl")


class Topic(NamedTuple):
    """One thing to explain.

    Attributes:
        kind: one of :data:`KINDS`; an argument is one of NPURunConfig, a migration what
            ``npu-config migrate`` changes, refuses or reports, a guide a section of the
            documentation.
        name: what it is called.
        summary: one line.
        page: the whole page, as Markdown.
        also: other names of it.
        facts: what programs may want to know, for ``--format json``.
        keywords: words that it is searched by, in any language.
    """

    kind: str
    name: str
    summary: str
    page: str
    also: Sequence[str] = ()
    facts: Mapping[str, Any] = {}
    keywords: Sequence[str] = ()

    def is_called(self, word: str) -> bool:
        """Whether a word is its name."""
        word = word.lower()
        return any(word == name.lower() for name in (self.name, *self.also))


def topics() -> Tuple[Topic, ...]:
    """Every topic: options, rules, variables, arguments of NPURunConfig, facts of migrations."""
    return tuple(topic for topic in _read(language()) if topic.kind in KINDS)


@functools.lru_cache(maxsize=None)
def _read(language: str) -> Tuple[Topic, ...]:
    with open(PATH.format(language), encoding="utf-8", opener=reading) as stream:
        return tuple(Topic(*json.loads(line)) for line in stream)


def written(found: Sequence[Topic]) -> str:
    """The file of some topics."""
    return "".join(json.dumps(topic, ensure_ascii=False) + "\n" for topic in found)


def former(name: str) -> str:
    """The page of an option of older adapters; empty for any other word."""
    found = (topic for topic in _read(language()) if topic.kind == FORMER)
    return next((topic.page for topic in found if topic.name == name), "")


def called(word: str) -> List[Topic]:
    """The topics that a word is the name of; an option goes before an argument of its name.

    What migrate calls so is explained, too: its report has names of options and rules.
    """
    found = [topic for topic in topics() if topic.is_called(word)]
    exact = [topic for topic in found if word in (topic.name, *topic.also)]
    found = exact or [topic for topic in found if topic.kind != "api"]  # overflow, Overflow
    others = [topic for topic in found if topic.kind != "migration"]
    if not others and "-" in word:
        others = [each for each in called(word.replace("-", "_")) if each not in found]
    return others[:1] + [topic for topic in found if topic.kind == "migration"]


def misspelt(word: str) -> Optional[str]:
    """The name that a word differs from in a letter or two, if it can be a name at all."""
    if not _NAME.match(word) or former(word):
        return None
    from npu_config.text.words import is_typo, near

    names = [n for t in topics() if t.kind in _NAMED for n in (t.name, *t.also)]
    close = near(word, names)
    if close is None or not is_typo(word.rpartition(".")[2], close.rpartition(".")[2]):
        return None
    return close


def about(words: str) -> List[Topic]:
    """The topics that hold every one of some words: in their name, their summary, their page.

    Words of one language find what is shown in the other.
    """
    spoken = language()
    for searched in (spoken, *(other for other in LANGUAGES if other != spoken)):
        found = _holding(words.lower().split(), _read(searched))
        if found:
            names = [(topic.kind, topic.name) for topic in found]
            shown = {(topic.kind, topic.name): topic for topic in topics()}
            return [shown[name] for name in names if name in shown]
    return _searched_by(words.lower())


def _searched_by(words: str) -> List[Topic]:
    """The topics with a search word that stands in some words; the longest word first."""
    ranked = []
    for topic in topics():
        known = {word for line in topic.keywords for word in line.lower().split()}
        held = [len(each) for each in known if _stands_in(each, words)]
        if held:
            ranked.append((max(held), topic))
    longest = max((length for length, _ in ranked), default=0)
    return [topic for length, topic in ranked if length == longest]


def _stands_in(known: str, words: str) -> bool:
    return known in words.split() if known.isascii() else len(known) > 1 and known in words


def _holding(wanted: Sequence[str], among: Sequence[Topic]) -> List[Topic]:
    """The best of the topics that hold all words, the nearest to their names first."""
    ranked = [
        (rank, topic)
        for topic in among
        if topic.kind in KINDS
        for rank in [_rank(topic, wanted)]
        if rank is not None
    ]
    kept = [pair for pair in ranked if pair[0][1] < _INSIDE] or ranked
    if any(rank == (0, 0) for rank, _ in kept) and not any(map(str.isascii, wanted)):
        kept = [pair for pair in kept if pair[0] != (0, 1)]  # inside of a Chinese word
    best = min((place for (place, _), _ in kept), default=0)
    kept = [pair for pair in kept if pair[0][0] <= best + 1]
    return [topic for _, topic in sorted(kept, key=lambda pair: pair[0])]


def _rank(topic: Topic, wanted: Sequence[str]) -> Optional[Tuple[int, int]]:
    """Where a topic holds all of the words: the place, then 0 for words, 1 for their beginnings.

    ``_INSIDE`` is for the middle of a word, as "export" holds "port"; None where one is missing.
    """
    texts = (
        " ".join((topic.name, *topic.also, *topic.keywords)),
        topic.name + " " + topic.summary,
        topic.page,
    )
    for place, text in enumerate(texts):
        content = text.lower()
        if all(word in content for word in wanted):
            return place, max(_part(word, content) for word in wanted)
    return None


_INSIDE = 2


def _part(word: str, content: str) -> int:
    if re.search(_BEGUN + re.escape(word) + r"(?![^\W_])", content):
        return 0
    return 1 if begins(word, content) else _INSIDE


_BEGUN = r"(?<![^\W_])"


def begins(word: str, content: str) -> bool:
    """Whether a text holds a word, or one that begins with it; Chinese has no blanks."""
    return word in content and (
        not word.isascii() or re.search(_BEGUN + re.escape(word), content) is not None
    )
