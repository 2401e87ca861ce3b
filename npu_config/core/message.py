"""Messages: English text that remembers how it was made, so that it can be said in Chinese.

``phrase('"{}" is not an option', name)`` is the English text, and nothing else to anybody who
compares, sorts, stores or prints it.  It keeps its template and its arguments; whoever shows it
to a person translates it then (:func:`translate`, :func:`localized`).  Data that stands in a
message is never translated, a phrase in a phrase is.  A plain text is looked up as a whole.

What is shown may come from files and arguments.  A terminal acts on control characters; a CI
system on lines that begin with ``::`` and on ``##[``: :func:`harmless` makes both visible text.
"""

from __future__ import annotations

import contextlib
import functools
import os
import string
import sys
from contextvars import ContextVar
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
)

from npu_config.core.lazy import lazy_pattern

LANGUAGES = ("en", "zh")
"""What messages can be in."""

DOMAIN = "npu_config"
LOCALES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "locale")
FOLDERS = {"zh": "zh_CN"}

_MOST_PARTS = 50
_QUOTED, _SENTENCE = '"{', 3
"""In a template with quotes a plain text of few words is what the user wrote."""

Lookup = Callable[[str], str]


class Message(str):
    """A text with its template and its arguments; made by :func:`phrase`."""

    __slots__ = ("arguments", "named", "template")

    template: str
    arguments: Tuple[Any, ...]
    named: Mapping[str, Any]

    def __add__(self, other: str) -> str:
        return phrase("{}{}", self, other)

    def __radd__(self, other: str) -> str:
        return phrase("{}{}", other, self)

    def __str__(self) -> str:
        return self

    def __reduce__(self) -> Tuple[Any, ...]:
        arguments = tuple(map(_plain, self.arguments))
        named = {key: _plain(value) for key, value in self.named.items()}
        if (arguments or named) and self.template.format(*arguments, **named) != self:
            return str, (self[:],)
        return _again, (self.template, arguments, named)


def phrase(template: str, *arguments: Any, **named: Any) -> str:
    """The template with its arguments, as by ``str.format``; without any, the text as it is."""
    if not arguments and not named and isinstance(template, Message):
        return template
    text = template.format(*arguments, **named) if arguments or named else template
    message = Message(text)
    message.template = template
    message.arguments = arguments
    message.named = named
    return message


def arguments_of(text: str) -> Iterator[str]:
    """The names and texts that a sentence was made with, and its parts."""
    for argument in getattr(text, "arguments", ()):
        if isinstance(argument, str):
            yield argument[:]
            yield from arguments_of(argument)


def join(separator: str, parts: Iterable[str]) -> str:
    """``separator.join(parts)`` of parts that may be phrases; ``{} and {}`` is a phrase itself."""
    found = tuple(parts)
    plain = not any(isinstance(part, Message) for part in found)
    if plain and separator not in (" and ", " or ", ", ", "; "):
        return separator.join(found)
    if len(found) > _MOST_PARTS:
        return phrase(separator.join(["{}"] * len(found)), *found)
    text = found[0] if found else ""
    for part in found[1:]:
        text = phrase("{}" + separator + "{}", text, part)
    return text


def listed(parts: Iterable[str]) -> str:
    """``", ".join(parts)`` as a phrase: other languages have another comma in lists."""
    return join(", ", parts)


def translate(text: str, look_up: Lookup) -> str:
    """A text in another language; English where the catalogue does not have it.

    Args:
        text: a message, or a plain text, which is looked up as a whole.
        look_up: the translation of a template, or the template.
    """
    if not isinstance(text, Message):
        return look_up(text) if text else text
    template = look_up(text.template) if text.template else text.template
    if not text.arguments and not text.named:
        return template
    values = {key: _inner(argument, look_up) for key, argument in text.named.items()}
    quoted = _QUOTED in text.template
    arguments = [_inner(argument, look_up, quoted) for argument in text.arguments]
    if template.isascii():
        return template.format(*arguments, **values)
    return _blanks(template, arguments, values)


_CHINESE = lazy_pattern("[\u3400-\u9fff]")
_LATIN = lazy_pattern(r"[^\W\u3400-\u9fff]")


def _blanks(template: str, arguments: Sequence[Any], values: Mapping[str, Any]) -> str:
    """A Chinese template with its arguments: blanks stand between Chinese and Latin only.

    The template cannot know which of the two an argument begins and ends with.
    """
    form = string.Formatter()
    given = iter(arguments)
    text = ""
    for literal, field, spec, conversion in form.parse(template):
        text = _appended(text, literal)
        if field is not None:
            value = next(given) if field == "" else form.get_field(field, arguments, values)[0]
            said = format(form.convert_field(value, conversion), spec or "")
            text = _appended(text, said)
    return text


def _appended(text: str, part: str) -> str:
    before, after = text.rstrip(" ")[-1:], part.lstrip(" ")[:1]
    gap = len(text) - len(text.rstrip(" ")) + len(part) - len(part.lstrip(" "))
    if gap == 1 and _CHINESE.match(before) and _CHINESE.match(after):
        return text.rstrip(" ") + part.lstrip(" ")
    if gap == 0 and (
        (_CHINESE.match(before) and _LATIN.match(after))
        or (_LATIN.match(before) and _CHINESE.match(after))
    ):
        return text + " " + part
    return text + part


def _inner(argument: Any, look_up: Lookup, quoted: bool = False) -> Any:
    """A phrase in a phrase; a plain text of several words is one when the catalogue has it."""
    if argument is None or isinstance(argument, (int, float)):
        return argument
    text = argument if isinstance(argument, str) else str(argument)
    sentence = text is argument and text.count(" ") >= (_SENTENCE if quoted else 1)
    return translate(text, look_up) if sentence or isinstance(text, Message) else argument


def _plain(argument: Any) -> Any:
    known = argument is None or isinstance(argument, (str, int, float))
    return argument if known else str(argument)


def _again(template: str, arguments: Tuple[Any, ...], named: Dict[str, Any]) -> str:
    return phrase(template, *arguments, **named)


@functools.lru_cache(maxsize=None)
def catalogue(language: str) -> Lookup:
    """The translations into a language, one of :data:`LANGUAGES`; English is as it is."""
    if language not in FOLDERS:
        return str
    import gettext

    return gettext.translation(DOMAIN, LOCALES, [FOLDERS[language]], fallback=True).gettext


_LANGUAGE: ContextVar[str] = ContextVar("npu_config_language", default="en")


def language() -> str:
    """What is spoken here: English, but where the command line chose another language."""
    return _LANGUAGE.get()


def speak(language: str) -> None:
    """Speak a language from here on, in this context."""
    _LANGUAGE.set(language)


@contextlib.contextmanager
def speaking(language: str) -> Iterator[None]:
    """Inside, :func:`localized` and the reporters speak this language."""
    token = _LANGUAGE.set(language)
    try:
        yield
    finally:
        _LANGUAGE.reset(token)


def localized(text: str, *arguments: Any, **named: Any) -> str:
    """A phrase at once in the language that is spoken: for pages, tables and summaries."""
    message = phrase(text, *arguments, **named) if arguments or named else text
    spoken = language()
    return message if spoken == "en" else translate(message, catalogue(spoken))


def language_of(environ: Mapping[str, str]) -> str:
    """The language that an environment asks for.

    The first of NPU_CONFIG_LANG, LC_ALL, LC_MESSAGES and LANG that is set decides; what begins
    with ``zh`` is Chinese, all else English.
    """
    names = ("NPU_CONFIG_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
    found: Optional[str] = next((environ[name] for name in names if environ.get(name)), None)
    return "zh" if found is not None and found.lower().startswith("zh") else "en"


PALETTE = lazy_pattern(r"(\x1b\[[0-9;]*m)")
"""The colours that the text report writes itself."""


def printable(text: str) -> str:
    """Text on one line, safe for any terminal."""
    if text.isprintable():
        return text
    return "".join(map(_visible, text))


def harmless(text: str, color: bool = False, commands: bool = False) -> str:
    """Lines that no terminal and no CI log takes for more than text.

    Args:
        text: any lines.
        color: leave colours alone; what came from a file has been escaped before.
        commands: leave workflow commands alone.
    """
    return "\n".join(_line(line, color, commands) for line in text.split("\n"))


def width(text: str) -> int:
    """The columns that a printable text takes on a terminal."""
    import unicodedata

    columns = 0
    for character in text:
        if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
            continue
        columns += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return columns


def fitted(text: str, columns: int) -> str:
    """A printable text in so many columns; the end of a longer one is cut, and shows it."""
    if width(text) <= columns:
        return text
    kept = ""
    for character in text:
        if width(kept) + width(character) > columns - 3:
            break
        kept += character
    return kept + "..."[: max(columns, 0)]


def screen() -> Optional[int]:
    """How many columns the terminal has; None when standard output is none.

    COLUMNS of the environment comes first, as for every program.
    """
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and 0 < int(given) < 10000:
        return int(given)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError, AttributeError):
        return None


def _line(line: str, color: bool, commands: bool) -> str:
    if not commands:
        if line.lstrip().startswith("::"):
            line = line.replace(":", "\\x3a", 1)
        line = line.replace("##[", "##\\x5b")
    if line.isprintable():
        return line
    end = "\r" if line.endswith("\r") else ""
    line = line[: len(line) - len(end)]
    parts = PALETTE.split(line) if color else [line]
    return (
        "".join(
            part if number % 2 else "".join(c if c == "\t" else _visible(c) for c in part)
            for number, part in enumerate(parts)
        )
        + end
    )


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def padded(text: str, columns: int, right: bool = False) -> str:
    """A printable text with blanks behind it, or before it, up to so many columns."""
    blanks = " " * (columns - width(text))
    return blanks + text if right else text + blanks


def in_columns(rows: Sequence[Sequence[str]], right: int = 0) -> List[str]:
    """Rows of printable cells as lines, in columns as wide as they need to be.

    Args:
        rows: the rows, that of the titles among them.
        right: how many columns, from the first on, are numbers, which end at one place.
    """
    widths = [max(map(width, column)) for column in zip(*rows)]
    return [
        "  ".join(padded(cell, widths[at], at < right) for at, cell in enumerate(row)).rstrip()
        for row in rows
    ]
