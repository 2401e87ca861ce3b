"""``npu-config loss-scale``."""

from typing import Any, Optional, Tuple

import click

from npu_config.cli._options import FILE
from npu_config.cli._output import say
from npu_config.cli._report import attempt, fails, print_findings, strict_option
from npu_config.core.message import localized


@click.command("loss-scale")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=FILE)
@click.option("--tag", metavar="NAME", help="The summary that holds the loss scale.")
@strict_option
def command(paths: Tuple[str, ...], tag: Optional[str], strict: bool) -> int:
    """Report how often a training run overflowed, and whether its loss scale collapsed.

    PATH is a training log, a TensorFlow event file, or a directory with event files.

    Exit code 0; with --strict 1 when the scale collapsed or keeps falling.
    """
    from npu_config.diagnosis.loss_report import loss_scale_report

    report = attempt("text", lambda: loss_scale_report(paths, tag))
    say(_facts(report))
    if len(report.diagnostics):
        print_findings(report.diagnostics, files=len(report.paths))
    return 1 if fails(report.diagnostics, strict) else 0


def _facts(report: Any) -> str:
    unit = "value" if report.counted else "step"
    lines = [
        localized(
            "values: {:,}, from {} {:,} to {:,}",
            report.samples,
            unit,
            report.first_step,
            report.last_step,
        ),
        localized(
            "loss scale:  first {:g}, last {:g}, range {:g} to {:g}",
            report.first,
            report.last,
            report.lowest,
            report.highest,
        ),
        localized("overflows:   {}", _overflows(report)),
        localized(
            "changes:     {} decreases ({} of them in the initial search), {} increases",
            len(report.decreases),
            report.search,
            report.increases,
        ),
        localized("curve:       {}", report.pattern.value),
    ]
    if report.nan_losses:
        lines.append(localized("NaN losses:  {:,}", report.nan_losses))
    if report.rhythm is not None:
        lines.insert(4, localized("period:      one decrease every {:g} {}s", report.rhythm, unit))
    return "\n".join([*lines, ""])


def _overflows(report: Any) -> str:
    if report.overflows is None:
        return localized(
            "at least {} (one for each decrease; the input itself reports no overflow)",
            report.least_overflows,
        )
    return localized("{} reported", report.overflows)
