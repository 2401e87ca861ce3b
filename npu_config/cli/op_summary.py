"""``npu-config op-summary``."""

import os
from typing import Any, Optional, Tuple

import click

from npu_config.cli._options import FILE
from npu_config.cli._output import progress, say, write_mixlist
from npu_config.cli._report import attempt
from npu_config.core.message import localized

_LARGE = 1 << 26
"""Bytes of tables that take some seconds to read."""


@click.command("op-summary")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=FILE)
@click.option("--top", default=20, show_default=True, help="How many operators are printed.")
@click.option(
    "--graph",
    metavar="GRAPH",
    type=FILE,
    help="The training graph: distinguishes float16 of the network's own from converted float16.",
)
@click.option(
    "--type",
    "types",
    multiple=True,
    metavar="TYPE",
    help="Operator types to act on, in place of ReduceSum and ReduceSumD.",
)
@click.option(
    "--write-mixlist",
    "mixlist",
    metavar="FILE",
    help="Write the ops_info.json for modify_mixlist that keeps the types in float32.",
)
@click.option("--force", is_flag=True, help="Overwrite a file that exists.")
def command(
    paths: Tuple[str, ...],
    top: int,
    graph: Optional[str],
    types: Tuple[str, ...],
    mixlist: Optional[str],
    force: bool,
) -> int:
    """Find float16 operators that run on a single block in op_summary tables.

    PATH is an op_summary_*.csv of the profiler, or a directory with some (PROF_*).
    """
    from npu_config.diagnosis.graph import float16_nodes
    from npu_config.diagnosis.profiling_tables import advise, read_op_summary

    with progress(_size(paths), _LARGE) as advance:
        summary = attempt("text", lambda: read_op_summary(paths, advance))
    nodes = attempt("text", lambda: float16_nodes(graph)) if graph else frozenset()
    advice = advise(summary, types or None, nodes)
    say(_table(summary, top))
    say(_advice(advice))
    if mixlist is not None:
        write_mixlist(mixlist, advice.black_list, force)
    return 0


def _size(paths: Tuple[str, ...]) -> int:
    """How many bytes the tables have that can be read."""
    from npu_config.diagnosis.profiling_tables import find_tables

    tables = [table for path in paths for table in find_tables(path)]
    return sum(os.path.getsize(table) for table in tables if os.path.isfile(table))


def _table(summary: Any, top: int) -> str:
    lines = [
        localized(
            "executions: {:,} in {} file, {:,.1f} ms; lines without a duration: {:,}"
            if len(summary.paths) == 1
            else "executions: {:,} in {} files, {:,.1f} ms; lines without a duration: {:,}",
            summary.rows,
            len(summary.paths),
            summary.total_us / 1e3,
            summary.skipped,
        )
    ]
    if not summary.operators:
        lines.append("no operator with float16 input runs on a single block")
        return "\n".join([*lines, ""])
    lines.append("operators with float16 input on a single block:")
    lines.append(
        "{:>9} {:>6} {:>8} {:>9}  {:<16} {}".format(
            "time ms", "share", "count", "max us", "type", "name"
        )
    )
    lines += [
        "{:>9.2f} {:>6.1%} {:>8,} {:>9.1f}  {:<16} {}".format(
            each.total_us / 1e3, each.share, each.count, each.max_us, each.type, each.name
        )
        for each in summary.operators[:top]
    ]
    more = len(summary.operators) - top
    if more > 0:
        lines.append(localized("and {:,} more (--top shows more)", more))
    return "\n".join([*lines, ""])


def _advice(advice: Any) -> str:
    lines = []
    if advice.black_list:
        lines.append(
            localized(
                "block list (modify_mixlist, black-list to-add): {} ({:.1%} of the time); "
                "--write-mixlist writes it",
                ", ".join(advice.black_list),
                advice.share,
            )
        )
    for each in advice.casts:
        lines.append(
            localized(
                'cast the input of "{}" to float32: the network itself computes it in float16, '
                "which the block list does not change",
                each.name,
            )
        )
    if advice.others:
        lines.append(
            localized(
                "further types on one block: {} (to see whether float32 is faster there: --type)",
                ", ".join(advice.others[:8]),
            )
        )
    return "".join("{}\n".format(line) for line in lines)
