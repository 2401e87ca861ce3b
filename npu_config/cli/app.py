"""The group of commands, each imported when it is asked for."""

import contextlib
import importlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any, Iterator, List, Mapping, Optional, cast

import click

from npu_config.cli._language import CommandGroup, of_call, spoken
from npu_config.cli._output import EXIT_CODES, check_directory, guarded
from npu_config.core.message import LOCALES, language, phrase
from npu_config.core.paths import reading
from npu_config.core.version import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS: Mapping[str, str] = {
    "check": "check",
    "migrate": "migrate",
    "generate": "generate",
    "compat": "compat",
    "explain": "explain",
    "init": "init",
    "schema": "schema",
    "show": "show",
    "diff": "diff",
    "mixlist": "mixlist",
    "ranktable": "ranktable",
    "env": "env",
    "format": "format",
    "diagnose": "diagnose",
    "op-summary": "op_summary",
    "fusion-result": "fusion_result",
    "loss-scale": "loss_scale",
    "tfdbg-export": "tfdbg_export",
    "dump": "dump",
    "doctor": "doctor",
    "log": "log",
    "run": "run_script",
    "lsp": "lsp",
}
"""Command to the module of this package that has it, as ``command``, in the order of the help."""

SUMMARIES = os.path.join(LOCALES, "commands.{}.json")
"""Each command's first sentence of help, by language: ``tools.generate`` writes these files, so
that no command has to be imported for a list of all of them."""


@contextlib.contextmanager
def _open_stdout() -> Iterator[None]:
    """Standard output, or nowhere if it was closed: click 8.0 writes help and version to it."""
    if sys.stdout is not None:
        yield
        return
    nowhere = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    with nowhere, contextlib.redirect_stdout(nowhere):
        yield


class _Listed(click.Group):
    """All commands with nothing but their first sentence, in the order of the help."""

    def __init__(self) -> None:
        super().__init__()
        with open(SUMMARIES.format(language()), encoding="utf-8", opener=reading) as stream:
            for name, summary in json.load(stream).items():
                self.add_command(spoken(click.Command(name, help=summary)))

    def list_commands(self, ctx: click.Context) -> List[str]:
        return list(self.commands)


class _Commands(CommandGroup):
    """A group whose commands are modules."""

    def list_commands(self, ctx: click.Context) -> List[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> Optional[click.Command]:
        if name not in COMMANDS:
            return None
        module = importlib.import_module("npu_config.cli." + COMMANDS[name])
        command: click.Command = module.command
        return spoken(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As click's, which asks every command for its first sentence."""
        _Listed().format_commands(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "List[CompletionItem]":
        """As click's, which asks every command for its first sentence."""
        if not incomplete.startswith("-"):
            ctx.command = _Listed()
        return ctx.command.shell_complete(ctx, incomplete)

    def main(self, *arguments: Any, **named: Any) -> Any:
        """As click's; every end has its exit code, and all output goes one way."""
        named["standalone_mode"] = False

        def run() -> Any:
            with _open_stdout():
                return click.Group.main(cast(click.Group, spoken(self)), *arguments, **named)

        given = named.get("args")
        with of_call(sys.argv[1:] if given is None else given):
            sys.exit(guarded(run))


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 99},
    epilog=phrase(
        "Exit codes: {}.",
        "; ".join("{} {}".format(code, words) for code, words in EXIT_CODES.items()),
    ),
)
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
def app() -> None:
    """Session options of TensorFlow on Ascend NPUs: check, generate, explain."""
    check_directory()
