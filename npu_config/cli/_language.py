"""Groups of commands, and their language: ``--lang``, else NPU_CONFIG_LANG, else the locale."""

import contextlib
import gettext
import inspect
import os
from typing import Any, Iterable, Iterator, List, Optional, Sequence, Tuple

import click

from npu_config.cli._output import WRONG_CALL, say
from npu_config.cli._run import OPTIONS
from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import (
    DOMAIN,
    FOLDERS,
    LANGUAGES,
    LOCALES,
    language,
    language_of,
    localized,
    speak,
    speaking,
    width,
)

_WIDE, _CLOSING = (
    "\u2e80-\u3000\u3003-\u9fff\uff00-\uffef",
    "\u3001\u3002\u300b\u300d\uff01\uff09\uff0c\uff1a\uff1b\uff1f",
)
_BROKEN = lazy_pattern(r"([{0}{1}])\n(?=[{0}])".format(_WIDE, _CLOSING))
_UNIT = lazy_pattern("(?:[^\\s{0}\u3001]+|[{0}]|\u3001)[{1}]*\\s*".format(_WIDE, _CLOSING))
_COLUMN = 30
_VALUED = ("--lang", *(option.flag for option in OPTIONS if option.legal is not bool))
"""Options of ``run``, before the script, that a value follows."""


class _Formatter(click.HelpFormatter):
    """Help whose lines are measured in columns of the terminal: Chinese takes two for a sign."""

    def write_usage(self, prog: str, args: str = "", prefix: Optional[str] = None) -> None:
        super().write_usage(prog, args, localized("Usage:") if prefix is None else prefix)

    def write_heading(self, heading: str) -> None:
        self.write(" " * self.current_indent + heading + localized(": ").rstrip() + "\n")

    def write_text(self, text: str) -> None:
        indent = " " * self.current_indent
        for number, paragraph in enumerate(text.split("\n\n")):
            if number:
                self.write_paragraph()
            kept = paragraph.startswith("\b\n")
            lines = paragraph[2:].split("\n") if kept else self._lines(paragraph, indent)
            self.write("".join(indent + line + "\n" for line in lines))

    def write_dl(
        self, rows: Iterable[Tuple[str, str]], col_max: int = _COLUMN, col_spacing: int = 2
    ) -> None:
        rows = list(rows)
        column = min(max((width(first) for first, _ in rows), default=0), col_max) + col_spacing
        indent = " " * self.current_indent
        for first, second in rows:
            lines = self._lines(localized(second), indent + " " * column) or [""]
            apart = width(first) > column - col_spacing
            self.write(indent + first + ("\n" if apart else " " * (column - width(first))))
            for number, line in enumerate(lines):
                self.write((indent + " " * column if number or apart else "") + line + "\n")

    def _lines(self, text: str, indent: str) -> List[str]:
        whole = " ".join(_BROKEN.sub(r"\1", text).split())
        return wrapped(whole, max(self.width - len(indent), 20))


def wrapped(text: str, room: int) -> List[str]:
    """A text in lines of so many columns: cut at blanks, and between Chinese signs."""
    lines, line = [], ""
    for unit in _UNIT.findall(text):
        if line and width((line + unit).rstrip()) > room:
            lines.append(line.rstrip())
            line = ""
        line += unit
    return [*lines, line.rstrip()] if line else lines


class CommandGroup(click.Group):
    """A group of commands; called without one, it shows its help."""

    def parse_args(self, ctx: click.Context, args: List[str]) -> List[str]:
        """As click's, with the help on standard error, as for any wrong call."""
        if not args and not ctx.resilient_parsing:
            say(ctx.get_help() + "\n", err=True)
            ctx.exit(WRONG_CALL)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: List[str]) -> Any:
        """As click's, with a word on what may have been meant; of a few commands all are named."""
        name, names = args[0], self.list_commands(ctx)
        if name not in names and not name.startswith("-"):
            from npu_config.text.words import near

            close = near(name, names)
            hint = "" if close is None else localized('; did you mean "{}"?', close)
            if close is None and len(names) <= _FEW:
                hint = localized("; legal: {}", ", ".join(names))
            ctx.fail(localized('there is no command "{}"{}', name, hint))
        return super().resolve_command(ctx, args)


_FEW = 12
"""So many commands are named where none is near."""


class SpokenContext(click.Context):
    """A context whose help is in the language that is spoken."""

    def make_formatter(self) -> click.HelpFormatter:
        formatter = super().make_formatter()
        return formatter if language() == "en" else _Formatter(width=formatter.width)


def _choose(ctx: click.Context, param: click.Parameter, value: Optional[str]) -> None:
    if value is not None:
        use(value)
        ctx.command = spoken(ctx.command)


def lang_option() -> click.Option:
    """``--lang``, which every command has."""
    return click.Option(
        ["--lang"],
        type=click.Choice(LANGUAGES),
        is_eager=True,
        expose_value=False,
        callback=_choose,
        help="The language of messages and help; default: NPU_CONFIG_LANG, else the locale.",
    )


def spoken(command: click.Command) -> click.Command:
    """A command that takes ``--lang``, with its help in the language that is spoken."""
    command.context_class = SpokenContext
    if not any("--lang" in parameter.opts for parameter in command.params):
        command.params.append(lang_option())
    if language() == "en":
        return command
    import copy

    other = copy.copy(command)
    other.help = _localized(command.help)
    other.epilog = _localized(command.epilog)
    if other.help:
        other.short_help = other.help.split("\n", 1)[0].rstrip("。")
    other.params = [_parameter(parameter) for parameter in command.params]
    if isinstance(other, click.Group):
        other.commands = {name: spoken(each) for name, each in other.commands.items()}
    return other


def _parameter(parameter: click.Parameter) -> click.Parameter:
    text = getattr(parameter, "help", None)
    if not text:
        return parameter
    import copy

    other: Any = copy.copy(parameter)
    other.help = localized(text)
    return parameter if other.help == text else other


def _localized(text: Optional[str]) -> Optional[str]:
    return localized(inspect.cleandoc(text)) if text else text


def use(chosen: str) -> None:
    """Speak a language from here on; click's own words, too."""
    speak(chosen)
    if chosen in FOLDERS:
        gettext.bindtextdomain(DOMAIN, LOCALES)
        gettext.textdomain(DOMAIN)
        os.environ["LANGUAGE"] = FOLDERS[chosen]
    elif gettext.textdomain() == DOMAIN:
        gettext.textdomain("messages")
        os.environ.pop("LANGUAGE", None)


def _asked(arguments: Sequence[str]) -> Optional[str]:
    """What ``--lang`` says anywhere before a script: the help may come before it."""
    words = list(arguments)
    runs = False
    while words:
        word = words.pop(0)
        if word == "--" or (runs and not word.startswith("-")):
            break
        runs = runs or word == "run"
        flag, equals, value = word.partition("=")
        if flag in _VALUED and not equals and words:
            value = words.pop(0)
        if flag == "--lang" and value in LANGUAGES:
            return value
    return None


@contextlib.contextmanager
def of_call(arguments: Sequence[str]) -> Iterator[None]:
    """Inside, the language of a call or of the environment is spoken."""
    domain, before = gettext.textdomain(), os.environ.get("LANGUAGE")
    with speaking(language()):
        use(_asked(arguments) or language_of(os.environ))
        try:
            yield
        finally:
            gettext.textdomain(domain)
            os.environ.pop("LANGUAGE", None)
            if before is not None:
                os.environ["LANGUAGE"] = before
