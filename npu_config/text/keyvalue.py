"""Lines ``key=value``, as the ini-like files of the runtime have them, with places.

What counts as a comment, which headers there are and which of two equal keys wins differs from
file to file, and is for their readers to say.
"""

from typing import Iterator, NamedTuple, Optional, Tuple

from npu_config.core.diagnostics import Place
from npu_config.text.lines import BLANKS, Line, lines


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
