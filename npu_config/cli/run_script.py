"""``npu-config run``: a script for the NPU on this machine, unchanged."""

import sys
from typing import Any

import click

from npu_config.cli import _run
from npu_config.cli._run import OPTIONS, RunOption


def _click_option(option: RunOption) -> Any:
    """An option as click has it."""
    legal: Any = option.legal
    kind: Any = legal
    if legal is list:
        kind = str
    elif isinstance(legal, tuple):
        kind = click.Choice(legal)
    elif isinstance(legal, range):
        kind = click.IntRange(legal.start, None if legal.stop == sys.maxsize else legal.stop - 1)
    return click.option(
        option.flag,
        option.name,
        type=kind,
        is_flag=legal is bool,
        multiple=legal is list,
        default=option.default,
        metavar=option.metavar,
        help=option.help,
    )


def _options(function: Any) -> Any:
    for option in reversed(OPTIONS):
        function = _click_option(option)(function)
    return function


@click.command("run", context_settings={"allow_interspersed_args": False})
@_options
@click.argument("script", metavar="SCRIPT")
@click.argument("arguments", metavar="[ARGUMENT...]", nargs=-1, type=click.UNPROCESSED)
def command(**values: Any) -> int:
    """Run a training script without an NPU and without the vendor's package.

    This package provides npu_bridge and hccl, iteration offload runs as many steps as on the
    device, and the configuration of every session is checked.  The exit code is that
    of the script.
    """
    return _run.run(values)
