"""``npu-config generate``."""

import os
from typing import Optional, Tuple

import click

from npu_config.cli._exits import FINDINGS
from npu_config.cli._options import as_option, merged, out_options, target_options
from npu_config.cli._output import Unproducible, deliver, say
from npu_config.cli._paths import INPUT
from npu_config.cli._script import certain, remarks_for
from npu_config.core.message import localized
from npu_config.core.target import Target
from npu_config.core.terminal import harmless
from npu_config.writers import FORMATS


@click.command("generate")
@click.argument("config", metavar="CONFIG|SCRIPT", type=INPUT)
@click.option(
    "--to",
    type=click.Choice(list(FORMATS)),
    help="What to write; without it, what the suffix of the output says.",
)
@out_options
@as_option
@target_options
@click.option(
    "--drop-unknown",
    is_flag=True,
    help="Leave out, and report, what the adapter of the target's version does not read.",
)
def command(
    config: str,
    to: Optional[str],
    out: Optional[str],
    force: bool,
    as_kind: Optional[str],
    target: Target,
    drop_unknown: bool,
) -> int:
    """Turn a configuration (a file, or - for standard input) into another form.

    From a training script comes what it sets whichever way it runs; what is known at run time
    only, or differs by path, becomes a comment (on standard error for formats without comments).

    Nothing is written when the configuration has an error.  With --target-cann an option that the
    adapter of that version does not read is an error, unless --drop-unknown leaves it out.
    """
    from npu_config.cli._load import complain, configuration, read_configuration
    from npu_config.core.diagnostics import NpuConfigError
    from npu_config.writers import render

    to = to or _by_suffix(out)
    reading = read_configuration(config, as_kind, scripts=True)
    remarks: Tuple[str, ...] = ()
    if reading.kind == "script":
        reading, remarks = certain(reading)
    session = reading.settings[0].session if reading.settings else None
    if not (session.optimizers if session else reading.settings or reading.diagnostics):
        raise Unproducible("{} sets no option of NpuOptimizer", config)
    found = configuration(reading, merged(target, reading.target), drop_unknown)
    try:
        content = "" if found is None else render(found, to)
    except NpuConfigError as error:
        complain(error.diagnostics, reading)
        found = None
    if found is None:
        say(localized("nothing is written\n"), err=True)
        return FINDINGS
    comments = remarks_for(to, remarks)
    if isinstance(content, str):
        content += harmless(comments, commands=True)
    if not comments:
        say("".join("{}: {}\n".format(config, remark) for remark in remarks), err=True)
    deliver(content, out, force)
    return 0


def _by_suffix(out: Optional[str]) -> str:
    suffix = os.path.splitext(out or "")[1].lower()
    for name, suffixes in FORMATS.items():
        if suffix in suffixes:
            return name
    raise click.UsageError(localized("say what to write: --to {}", "|".join(FORMATS)))
