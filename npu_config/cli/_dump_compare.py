"""``npu-config dump compare``: a dump against a reference, another dump, or its own ranks."""

import contextlib
from typing import Optional, Tuple

import click

from npu_config.cli import _dump_text as text
from npu_config.cli._dump_shared import (
    Bar,
    Outputs,
    attempt_values,
    graph_option,
    output_options,
    write_next,
)
from npu_config.cli._options import FILE, together
from npu_config.cli._output import write
from npu_config.cli._report import fails
from npu_config.core.diagnostics import Report
from npu_config.core.message import localized

bounds_options = together(
    click.option(
        "--threshold",
        type=click.FloatRange(-1, 1),
        help="A tensor agrees when its cosine similarity is above it (0.98).",
    ),
    click.option(
        "--max-abs",
        "max_abs",
        type=click.FloatRange(min=0),
        metavar="X",
        help="How much one element may be off; else by data type and kind of tensor.",
    ),
    click.option(
        "--max-rel",
        "max_rel",
        type=click.FloatRange(min=0),
        metavar="X",
        help="The largest relative distance; else by data type and kind of tensor.",
    ),
)
"""Limits that replace the defaults."""


@click.command("compare")
@click.argument("npu", metavar="NPU", type=FILE)
@click.argument("reference", metavar="REFERENCE", type=FILE)
@graph_option
@bounds_options
@click.option("--step", type=int, metavar="N", help="The step of the dump.")
@click.option("--reference-step", type=int, metavar="N", help="The run or step of REFERENCE.")
@click.option("--device", type=int, metavar="N", help="The device of the dump.")
@click.option(
    "--ignore", multiple=True, metavar="PATTERN", help="Operators that do not count (* and ?)."
)
@click.option("--all", "everything", is_flag=True, help="Print inputs that agree, too.")
@click.option(
    "--csv", "csv_file", metavar="FILE", help="Write the table in the columns of msaccucmp."
)
@output_options
def compare_command(
    npu: str,
    reference: str,
    graph: Optional[str],
    threshold: Optional[float],
    max_abs: Optional[float],
    max_rel: Optional[float],
    step: Optional[int],
    reference_step: Optional[int],
    device: Optional[int],
    ignore: Tuple[str, ...],
    everything: bool,
    csv_file: Optional[str],
    outputs: Outputs,
) -> int:
    """Compare a dump with a reference, and find the first operator that diverges.

    REFERENCE is a folder of .npy files (OPERATOR.OUTPUT.TIME.npy, of tfdbg-export or dump
    export), or another dump. Without --graph inputs are not compared.

    Exit code 0 when everything that was compared agrees, 1 when something diverges.
    """
    from npu_config.dumps import result
    from npu_config.dumps.compare import compare_dumps
    from npu_config.dumps.html import comparison_page

    with contextlib.ExitStack() as stack:
        found = attempt_values(
            outputs.format_,
            lambda: compare_dumps(
                npu,
                reference,
                graph,
                threshold,
                max_abs,
                max_rel,
                step=step,
                reference_step=reference_step,
                device=device,
                ignore=ignore,
                progress=Bar(stack).advance,
            ),
        )
    outputs.deliver(
        result.plain(found),
        found.diagnostics,
        result.finding(found),
        lambda: text.comparison(found, everything),
        lambda: comparison_page(found, localized("{} against {}", npu, reference)),
    )
    if csv_file is not None:
        write(csv_file, result.result_csv(found), outputs.force)
    first = found.first_diverging
    layers = [first] if first is not None else list(found.diverging)
    write_next(outputs, npu, layers, found.step, found.passes)
    return 0 if found.ok and not fails(Report(found.diagnostics), False) else 1
