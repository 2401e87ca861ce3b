"""The options of ``npu-config run``, as data: click's command is made of them.

A well-formed call is read without click, so that a script starts soon.  All else is left to
click, which says what is wrong.
"""

import sys
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union


class Option(NamedTuple):
    """An option of the command.

    Args:
        flag: how it is written.
        name: the name of its value.
        legal: its choices; a range of numbers; ``str`` for any text; ``bool`` for a flag.
        help: what it does.
        default: its value in a call without it.
        metavar: what stands for its value in the help.
    """

    flag: str
    name: str
    legal: Union[Tuple[str, ...], range, type]
    help: str
    default: Union[str, bool, None] = None
    metavar: Optional[str] = None


OPTIONS = (
    Option(
        "--loops",
        "loops",
        ("device", "once"),
        "Whether a session.run makes as many steps as on the device (as by default), or one.",
    ),
    Option(
        "--dry-run",
        "dry_run",
        bool,
        "Stop before the first training step and print what each session is configured with.",
        False,
    ),
    Option(
        "--format",
        "format_",
        ("yaml", "json"),
        "With --dry-run: how it is printed; yaml where nothing is said.",
    ),
    Option("--steps", "steps", range(1, sys.maxsize), "Stop after so many session runs."),
    Option(
        "--ranks",
        "ranks",
        range(1, 33),
        "Start the script so many times, as the ranks of one job that communicate (1 to 32).",
        metavar="N",
    ),
    Option(
        "--timeout",
        "timeout",
        range(1, sys.maxsize),
        "End the run after so many seconds, with exit code 124, and say where it was.",
        metavar="SECONDS",
    ),
    Option("--report", "report", str, "Write what was seen to a JSON file.", metavar="FILE"),
    Option("--overwrite", "overwrite", bool, "The report may replace a file.", False),
    Option("--force", "force", bool, "Also where the vendor's package is installed.", False),
)

_BY_FLAG = {option.flag: option for option in OPTIONS}
_MOST_DIGITS = 9


def read(words: Sequence[str]) -> Optional[Dict[str, Any]]:
    """What a call says, by the name of each value; None where only click can tell.

    Args:
        words: what follows ``run``.
    """
    found: Dict[str, Any] = {option.name: option.default for option in OPTIONS}
    rest = list(words)
    while rest and rest[0].startswith("-"):
        word, equals, value = rest.pop(0).partition("=")
        option = _BY_FLAG.get(word)
        if word == "--" and not equals:
            break
        if option is None:
            return None
        if option.legal is bool:
            known: Union[str, int, None] = None if equals else True
        else:
            known = _value(option.legal, value if equals else rest.pop(0) if rest else "")
        if known is None:
            return None
        found[option.name] = known
    return {**found, "script": rest[0], "arguments": tuple(rest[1:])} if rest else None


def _value(legal: Any, text: str) -> Union[str, int, None]:
    """A value that is certainly legal, else None."""
    if isinstance(legal, range):
        plain = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
        return int(text) if plain and int(text) in legal else None
    return text if text and text[0] != "-" and (legal is str or text in legal) else None


def words_of(values: Mapping[str, Any]) -> List[str]:
    """The words of a call with these values; without those that are as by default."""
    words: List[str] = []
    for option in OPTIONS:
        value = values[option.name]
        if value != option.default:
            words += [option.flag] if value is True else [option.flag, str(value)]
    return words
