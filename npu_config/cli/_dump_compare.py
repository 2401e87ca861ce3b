"""``npu-config dump compare``: a dump against a reference, another dump, or its own ranks."""

import contextlib
import os
from typing import Any, Callable, Dict, Optional

import click

from npu_config.cli import _dump_text as text
from npu_config.cli._dump_shared import (
    LINES,
    Bar,
    Outputs,
    attempt_values,
    graph_option,
    output_options,
    write_next,
)
from npu_config.cli._options import FILE, together
from npu_config.cli._output import Unproducible, write
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
@click.argument("reference", metavar="[REFERENCE]", type=FILE, required=False)
@graph_option
@bounds_options
@click.option(
    "--step", type=click.IntRange(min=0), metavar="N", help="Only this step of the dump."
)
@click.option(
    "--reference-step",
    type=click.IntRange(min=0),
    metavar="N",
    help="The run or step of REFERENCE.",
)
@click.option(
    "--device", type=click.IntRange(min=0), metavar="N", help="Only this device of the dump."
)
@click.option("--run", metavar="TIME", help="The run of the dump; else the newest of each device.")
@click.option(
    "--ignore",
    multiple=True,
    metavar="PATTERN",
    help="Leave these operators out (* and ? match any text).",
)
@click.option("--all", "everything", is_flag=True, help="Print inputs that agree, too.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=LINES,
    show_default=True,
    help="How many rows; 0: all.",
)
@click.option(
    "--csv", "csv_file", metavar="FILE", help="Write the table in the columns of msaccucmp."
)
@output_options
def compare_command(
    npu: str,
    reference: Optional[str],
    graph: Optional[str],
    everything: bool,
    limit: int,
    csv_file: Optional[str],
    outputs: Outputs,
    **chosen: Any,
) -> int:
    """Compare a dump with a reference, and find the first operator that diverges.

    REFERENCE is a folder of .npy files (OPERATOR.OUTPUT.TIME.npy, of tfdbg-export or dump
    export), or another dump. Every step, device and model that both sides have is compared.
    Without --graph inputs are not compared. Two single files (dumps or .npy) are compared by
    themselves. Without REFERENCE the devices of the dump are compared with each other: weights
    and summed gradients have to be equal bit for bit.

    Exit code 0 when what was compared agrees and speaks for the whole network, 1 when something
    diverges or too much was not compared.
    """
    from npu_config.dumps import result
    from npu_config.dumps.comparison_page import comparison_page

    with contextlib.ExitStack() as stack:
        compared = _comparison(npu, reference, graph, chosen, Bar(stack).advance)
        found = attempt_values(outputs.format_, compared)
    title = (
        localized("the ranks of {}", npu)
        if reference is None
        else localized("{} against {}", npu, reference)
    )
    outputs.deliver(
        lambda: result.plain(found),
        found.diagnostics,
        result.finding(found),
        lambda: text.comparison(found, everything, limit),
        lambda: comparison_page(found, title),
    )
    if csv_file is not None:
        write(csv_file, result.result_csv(found), outputs.force)
    if outputs.next_config is not None and found.inputs_differ:
        message = "the inputs differ; no operator is to blame, and {} is not written"
        raise Unproducible(message, outputs.next_config)
    first = found.first_diverging
    layers = [first] if first is not None else list(found.diverging)
    if found.passes:  # without them there is no such operator, but those that it stands for
        parts = (row.stands_for for row in found.rows if row.op_name == first)
        layers = list(next(parts, ())) or layers
    write_next(outputs, npu, layers, found.step, found.passes)
    return 0 if found.ok and not fails(Report(found.diagnostics), False) else 1


def _comparison(
    npu: str,
    reference: Optional[str],
    graph: Optional[str],
    chosen: Dict[str, Any],
    progress: Callable[[int, int], None],
) -> Callable[[], Any]:
    """What compares: two files, two folders, or the ranks of one dump."""
    bounds = {name: chosen.pop(name) for name in ("threshold", "max_abs", "max_rel")}
    if reference is None:
        from npu_config.dumps.ranks import compare_ranks

        for name in ("reference_step", "device"):
            if chosen.pop(name) is not None:
                raise click.UsageError(localized("--{} needs REFERENCE", name.replace("_", "-")))
        if any(value is not None for value in bounds.values()):
            message = "ranks are compared bit for bit; limits need REFERENCE"
            raise click.UsageError(localized(message))
        return lambda: compare_ranks(npu, graph, **chosen, progress=progress)
    if os.path.isfile(npu) and os.path.isfile(reference):
        from npu_config.dumps.single import compare_files

        return lambda: compare_files(npu, reference, **bounds)
    from npu_config.dumps.compare import compare_dumps

    return lambda: compare_dumps(npu, reference, graph, **bounds, **chosen, progress=progress)
