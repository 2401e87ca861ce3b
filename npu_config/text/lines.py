"""Formats that are read line by line: lines, those of the form ``key=value``, and their places.

What counts as a comment, which headers there are and which of two equal keys is used differs from
file to file, and is for their readers to say.
"""

from typing import Iterator, NamedTuple, Optional, Tuple

from npu_config.core.diagnostics import Diagnostic, Edit, Fix, Place, Rule, Severity
from npu_config.core.message import phrase

BLANKS = " \t\n\v\f\r"
"""What the runtime trims: the blanks of C++, not those of Unicode."""


MARK = "\ufeff"
"""A byte order mark, which the runtime does not skip where it reads line by line."""


class Line(NamedTuple):
    """One line without its line end."""

    text: str
    number: int
    path: Optional[str]

    def place(self, start: int = 0, end: Optional[int] = None) -> Place:
        """The place of ``text[start:end]``."""
        stop = len(self.text) if end is None else end
        return Place(self.path, self.number, start + 1, self.number, stop + 1)

    def content(self) -> Place:
        """The place of the line without the blanks around it."""
        start, end = self.trimmed(0, len(self.text))
        return self.place(start, end)

    def trimmed(self, start: int, end: int) -> Tuple[int, int]:
        """The part of ``text[start:end]`` that is left without the blanks around it."""
        part = self.text[start:end]
        bare = part.strip(BLANKS)
        left = start + len(part) - len(part.lstrip(BLANKS))
        return (left, left + len(bare)) if bare else (start, end)

    def removal(self) -> Fix:
        """The fix that takes out the whole line."""
        return Fix("remove the line", (Edit(self.number, 1, self.number + 1, 1, ""),))


def lines(text: str, path: Optional[str] = None) -> Iterator[Line]:
    """The lines of a text; what follows the last line end is a line only if it is not empty."""
    parts = text.split("\n")
    if parts and not parts[-1]:
        parts.pop()
    for index, part in enumerate(parts):
        yield Line(part[:-1] if part.endswith("\r") else part, index + 1, path)


def marked(line: Line, rule: Rule) -> Diagnostic:
    """What is said of a first line that begins with a byte order mark."""
    return rule.diagnostic(
        "the line starts with a byte order mark, which is read as part of the line",
        line.content(),
        help="save the file as UTF-8 without a byte order mark",
        severity=Severity.WARNING,
        fix=Fix("remove the byte order mark", (Edit(line.number, 1, line.number, 2, ""),)),
    )


def name_fault(name: object, forbidden: str = "") -> Optional[str]:
    """Why a name cannot stand in a line of its own, or None.

    Args:
        name: what is to be a name.
        forbidden: characters that separate in this format.
    """
    if not isinstance(name, str):
        return "must be text"
    if not name:
        return "must not be empty"
    if name != name.strip(BLANKS):
        return "must not start or end with whitespace"
    for character in "\n\r" + forbidden:
        if character in name:
            if character in "\n\r":
                return "must not contain line breaks"
            return phrase('must not contain "{}"', character)
    return None


class Item(NamedTuple):
    """One line that is neither blank nor a comment.

    ``content`` is the line without the blanks around it.  Without ``=`` the key is empty; an
    empty value may have no ``=`` before it either (``equals``).
    """

    line: Line
    content: str
    key: str
    equals: bool
    value: str

    @property
    def key_place(self) -> Place:
        """Where the key is."""
        return self.line.place(*self.line.trimmed(0, self.line.text.find("=")))

    @property
    def value_place(self) -> Place:
        """Where the value is."""
        start = self.line.text.find("=") + 1
        return self.line.place(*self.line.trimmed(start, len(self.line.text)))

    def parts(self) -> Iterator[Tuple[str, Place]]:
        """The values between commas that are not empty, each with its place."""
        start = self.line.text.find("=") + 1
        for part in self.line.text[start:].split(","):
            if part.strip():
                place = self.line.place(*self.line.trimmed(start, start + len(part)))
                yield part.strip(), place
            start += len(part) + 1


def items(
    text: str, path: Optional[str], comments: Tuple[str, ...], indented: bool = True
) -> Iterator[Item]:
    """The lines of a text that say something.

    Args:
        text: the text.
        path: the file it came from.
        comments: what a comment begins with.
        indented: whether blanks may stand before a comment.
    """
    for line in lines(text, path):
        content = line.text.strip(BLANKS)
        if content and not (content if indented else line.text).startswith(comments):
            name, equals, value = line.text.partition("=")
            key = name.strip(BLANKS) if equals else ""
            yield Item(line, content, key, bool(equals), value.strip(BLANKS))
