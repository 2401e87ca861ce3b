"""The files that ``npu-config explain`` reads: everything it explains, for each language.

Beside what the package declares these are the sections of the guides, and the words of
``search_words.yaml`` by which users look for all that.
"""

import functools
import os
import re
from pathlib import Path
from typing import Callable, Dict, Iterator, List, NamedTuple, Tuple

import yaml

from npu_config.cli import _topics
from npu_config.cli._topics import Topic
from npu_config.core.diagnostics import DOCS_URL
from npu_config.core.message import LANGUAGES, speaking
from tools import api, explained, rule_pages

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
SEARCH_WORDS = ROOT / "tools" / "search_words.yaml"
FOR_DEVELOPERS = (
    "architecture", "benchmarks", "changes", "corpus", "facts", "index", "networks", "releasing",
)  # fmt: skip
"""Pages that are no guides for users."""

_HEADING = re.compile(r"^(#{1,2}) (.+)$", re.M)
_COMMENT = re.compile(r"^<!--.*?-->\n", re.M | re.S)
_CODE = re.compile(r"^(```|:::).*?^\1\s*?$", re.M | re.S)


class Section(NamedTuple):
    """A part of a guide: its level, its heading, its text."""

    level: int
    title: str
    text: str

    @property
    def anchor(self) -> str:
        """The part of the address behind ``#``; empty for the beginning of a page."""
        words = re.sub(r"[^\w\- ]", "", self.title.lower())
        return "" if self.level == 1 else "#" + words.replace(" ", "-")


def render(language: str) -> str:
    """The file of a language."""
    with speaking(language):
        translated = rule_pages.translation if language == "zh" else None
        found = [*explained.topics(translated), *api.topics(), *guides(language)]
    return _topics.written([_with_keywords(topic) for topic in found])


def files() -> Dict[str, Callable[[], str]]:
    """Path of each file, and what renders it."""
    return {
        os.path.relpath(_topics.PATH.format(language), str(ROOT)): functools.partial(
            render, language
        )
        for language in LANGUAGES
    }


def guides(language: str) -> Iterator[Topic]:
    """A topic for each section of the guides; English where a translation has other sections."""
    for path in pages():
        name = path.relative_to(DOCS).with_suffix("").as_posix()
        english = sections(path)[: 1 if path.parent == REFERENCE else None]
        other = DOCS / "zh" / path.relative_to(DOCS)
        here, shown = name, english
        if language == "zh" and other.exists():
            translated = sections(other)
            if len(translated) == len(english):
                here, shown = "zh/" + name, translated
        for original, section in zip(english, shown):
            title = "{}: {}".format(shown[0].title, section.title) if section.level > 1 else ""
            url = "{}/{}.html{}".format(DOCS_URL, here, section.anchor)
            page = "# {}\n\n{}\n\n{}\n".format(title or section.title, section.text, url)
            yield Topic(
                "guide", name + original.anchor, title or section.title, page, (), {"url": url}
            )


def pages() -> List[Path]:
    """The guides for users, in English, and three references, of which the beginning is shown."""
    found = (path for folder in (DOCS, DOCS / "recipes") for path in sorted(folder.glob("*.md")))
    guides = [path for path in found if path.stem not in FOR_DEVELOPERS]
    return guides + [REFERENCE / name for name in ("environment.md", "products.md", "python.md")]


def sections(path: Path) -> List[Section]:
    """The parts of a guide, by its headings; those in blocks of code are none."""
    text = _COMMENT.sub("", path.read_text(encoding="utf-8"))
    hidden = [match.span() for match in _CODE.finditer(text)]
    found = [
        match
        for match in _HEADING.finditer(text)
        if not any(start <= match.start() < end for start, end in hidden)
    ]
    ends = [*(match.start() for match in found[1:]), len(text)]
    return [
        Section(len(match.group(1)), match.group(2), text[match.end() : end].strip())
        for match, end in zip(found, ends)
    ]


def _with_keywords(topic: Topic) -> Topic:
    names = (topic.name, *topic.also)
    words = [words for words, targets in _search_words() if not set(targets).isdisjoint(names)]
    return topic._replace(keywords=words)


@functools.lru_cache(maxsize=None)
def _search_words() -> Tuple[Tuple[str, Tuple[str, ...]], ...]:
    found = yaml.safe_load(SEARCH_WORDS.read_text(encoding="utf-8"))
    return tuple((words, tuple(targets)) for words, targets in found.items())
