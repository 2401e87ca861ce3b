"""The group of commands, each imported when it is asked for."""

import importlib
from typing import Any, List, Mapping, Optional

import click

from npu_config.core.version import __version__

COMMANDS: Mapping[str, str] = {
    "check": "check",
    "generate": "generate",
    "explain": "explain",
    "init": "init",
    "schema": "schema",
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
    "doctor": "doctor",
}
"""Command to the module of this package that has it, as ``command``, in the order of the help."""

INTERRUPTED = 130


class _Commands(click.Group):
    """A group whose commands are modules."""

    def list_commands(self, ctx: click.Context) -> List[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> Optional[click.Command]:
        if name not in COMMANDS:
            return None
        module = importlib.import_module("npu_config.cli." + COMMANDS[name])
        command: click.Command = module.command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """As click's; what is interrupted ends with the code that shells give it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("\nAborted!", err=True)
            ctx.exit(INTERRUPTED)

    def resolve_command(self, ctx: click.Context, args: List[str]) -> Any:
        """As click's, with a word on what may have been meant."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            import difflib

            close = difflib.get_close_matches(name, list(COMMANDS), 1)
            hint = ' Did you mean "{}"?'.format(close[0]) if close else ""
            ctx.fail('No such command "{}".{}'.format(name, hint))
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 99},
)
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
def app() -> None:
    """Session options of TensorFlow on Ascend NPUs: check, generate, explain."""
