"""``npu-config generate``."""

import os
from typing import Iterable, Optional, Tuple

import click

from npu_config.cli._exits import FINDINGS
from npu_config.cli._options import as_option, out_options, target_options
from npu_config.cli._output import Unproducible, deliver, say
from npu_config.cli._paths import INPUT
from npu_config.cli._report import findings_option, write_findings
from npu_config.cli._script import certain, remarks_for
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Report, Severity
from npu_config.core.message import localized
from npu_config.core.rule import REGISTRY
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
@findings_option
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
    findings: Optional[str],
    drop_unknown: bool,
) -> int:
    """Turn a configuration (a file, or - for standard input) into another form.

    From a training script comes what it sets whichever way it runs; what is known at run time
    only, or differs by path, becomes a comment (on standard error for formats without comments).

    Nothing is written when the configuration has an error.  With --target-cann an option that the
    adapter of that version does not read is an error, unless --drop-unknown leaves it out.
    """
    from npu_config.cli._load import complain, configuration, read_configuration
    from npu_config.judging import Around, judge_reading
    from npu_config.lint.project import target_near
    from npu_config.rulebook import load_all
    from npu_config.writers import render

    to = to or _by_suffix(out)
    reading = read_configuration(config, as_kind, scripts=True)
    around = Around(target, target_near(config))
    judged = judge_reading(reading, around, load_all)
    if findings is not None:
        write_findings(findings, judged)
    found = _of_options(judged.found, drop_unknown)
    complain(found, reading)
    if found.errors:
        say(localized("nothing is written\n"), err=True)
        return FINDINGS
    remarks: Tuple[str, ...] = ()
    if reading.kind == "script":
        reading, remarks = certain(reading)
    session = reading.settings[0].session if reading.settings else None
    if not (session.optimizers if session else reading.settings or reading.diagnostics):
        raise Unproducible("{} sets no option of NpuOptimizer", config)
    target = around.target_of(reading.target, reading.unreadable)
    written = configuration(reading, target, drop_unknown, judged.found)
    try:
        content = "" if written is None else render(written, to)
    except NpuConfigError as error:
        complain(error.diagnostics, reading)
        written = None
    if written is None:
        say(localized("nothing is written\n"), err=True)
        return FINDINGS
    comments = remarks_for(to, remarks)
    if isinstance(content, str):
        content += harmless(comments, commands=True)
    if not comments:
        say("".join("{}: {}\n".format(config, remark) for remark in remarks), err=True)
    deliver(content, out, force)
    return 0


def _of_options(found: Iterable[Diagnostic], drop_unknown: bool) -> Report:
    """The findings that keep a configuration from being written, or are worth knowing then.

    What stands beside the options of a ConfigProto is not carried over.
    """
    left_out = ("NPU111",) if drop_unknown else ()
    return Report(
        each
        for each in found
        if each.severity is not Severity.INFO
        and each.rule not in left_out
        and REGISTRY[each.rule].about != "session"
    )


def _by_suffix(out: Optional[str]) -> str:
    suffix = os.path.splitext(out or "")[1].lower()
    for name, suffixes in FORMATS.items():
        if suffix in suffixes:
            return name
    raise click.UsageError(localized("say what to write: --to {}", "|".join(FORMATS)))
