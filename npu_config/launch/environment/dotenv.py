"""Files of environment variables, ``NAME=value`` line by line (``.env``)."""

import re
from contextlib import suppress
from typing import Dict, List, Mapping, NamedTuple, Optional, Tuple

from npu_config.core.diagnostics import Place, Report, Severity, declare
from npu_config.core.message import phrase
from npu_config.core.settings import UNKNOWN
from npu_config.launch.environment.process import Value
from npu_config.sidefiles.format import path_given
from npu_config.text.source import FaultLog, Source, StopReading

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,=-]*\Z")
_BEGIN = re.compile(r"[ \t]*(?:export[ \t]+)?(?P<name>[^=\s#]+)[ \t]*=[ \t]*")
_IGNORED = re.compile(r"\s*(?:#.*|unset[ \t][A-Za-z0-9_ \t]+)?\Z")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_WRITTEN = {mark: "\\" + mark for mark in '"\\$`'}


@declare("NPU690", Severity.ERROR, source=("docs/en/tfa_env/RANK_ID.md",))
def environment_file() -> None:
    r"""A line of an environment file does not set a variable.

    Each line is `NAME=value`, optionally with `export` before the name.  The value is a word
    without quotes, or text in single quotes (read literally) or in double quotes (with `\n`, `\"`,
    `\\`).  `unset NAME`, blank lines and lines that begin with `#` are skipped.  A name that
    appears twice is a warning; the last value is used.

    Wrong: `RANK_ID 0`

    Right: `RANK_ID=0`
    """


class Environment(NamedTuple):
    """The variables of a file, where each stands, and what is wrong with the file."""

    variables: Dict[str, str]
    places: Dict[str, Place]
    diagnostics: Report


def quote(value: str) -> str:
    """A value as it is written: bare where a shell takes it as it is, else in double quotes."""
    if value and _PLAIN.match(value):
        return value
    return '"{}"'.format("".join(_WRITTEN.get(character, character) for character in value))


def render_dotenv(variables: Mapping[str, str], absent: Tuple[str, ...] = ()) -> str:
    """The text of a file; ``absent`` names variables that must not be set beside them.

    Raises:
        ValueError: a name is none.
    """
    lines: List[str] = []
    if absent:
        lines.append("# must not be set: {}".format(" ".join(absent)))
    for name, value in variables.items():
        if NAME.match(name) is None:
            raise ValueError('"{}" is not a name of a variable'.format(name))
        lines.append("{}={}".format(name, quote(value)))
    return "\n".join(lines) + "\n"


def parse_dotenv(text: str, path: Optional[str] = None) -> Environment:
    """The variables of a file.

    Args:
        text: the content of the file.
        path: its name, for the diagnostics.

    Raises:
        TypeError: ``text`` is no text.
    """
    refused = path_given(text, path, "parse_dotenv(open(path).read(), path)")
    if refused:
        return Environment({}, {}, refused)
    source = Source(text, path)
    log = FaultLog(source, environment_file)
    variables: Dict[str, str] = {}
    places: Dict[str, Place] = {}
    position = 0
    if text.startswith("\ufeff"):
        position = 1
        help = "save the file as UTF-8 without a byte order mark"
        log.fault(0, 1, "a byte order mark: it becomes a part of the first name", help)
    with suppress(StopReading):
        while position < len(text):
            end = _line_end(text, position)
            line = text[position:end].rstrip("\r")
            begin = _BEGIN.match(line)
            if begin is not None and NAME.match(begin.group("name")):
                name, start = begin.group("name"), position + begin.end()
                value, stop = _value(text, start)
                end = _line_end(text, stop)
                span = (position + begin.start("name"), max(stop, start))
                rest = text[stop:end].strip()
                if value is None:
                    log.fault(*span, "the quote that opens here is not closed")
                elif rest and not rest.startswith("#"):
                    help = "put the whole value in quotes"
                    log.fault(*span, "text after the closing quote", help)
                else:
                    place = source.place(*span)
                    if name in variables:
                        message = phrase("{} is set twice; the last value is used", name)
                        help, severity = "remove one of the two", Severity.WARNING
                        log.add(
                            environment_file.diagnostic(
                                message, place, help=help, severity=severity
                            )
                        )
                    variables[name], places[name] = value, place
            elif not _IGNORED.match(line):
                first = position + len(line) - len(line.lstrip())
                message = "this line is not of the form NAME=value"
                log.fault(first, position + len(line.rstrip()), message)
            position = end + 1
    return Environment(variables, places, Report(log))


def as_shell(variables: Mapping[str, str]) -> Dict[str, Value]:
    """The variables as a shell that sources the file has them: what it fills in is not known."""
    return {
        name: UNKNOWN if "$" in value or "`" in value else value
        for name, value in variables.items()
    }


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _value(text: str, start: int) -> Tuple[Optional[str], int]:
    """The value that begins at ``start`` (None: its quote is not closed), and its end."""
    quote_mark = text[start : start + 1]
    end = _line_end(text, start)
    if quote_mark == "'":
        close = text.find("'", start + 1)
        return (None, end) if close < 0 else (text[start + 1 : close], close + 1)
    if quote_mark == '"':
        close = start + 1
        while close < len(text) and text[close] != '"':
            close += 2 if text[close] == "\\" else 1
        if close >= len(text):
            return None, end
        inner = text[start + 1 : close]
        return _ESCAPED.sub(lambda m: _ESCAPES.get(m.group(1), m.group(1)), inner), close + 1
    bare = re.split(r"[ \t]#", text[start:end], maxsplit=1)[0].rstrip()
    return bare, start + len(bare)
