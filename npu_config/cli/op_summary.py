"""``npu-config op-summary``: where the time of a profile went, and what follows."""

import json
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import attr
import click

from npu_config.cli._options import FILE, form_option
from npu_config.cli._output import progress, say, write_mixlist
from npu_config.cli._report import attempt, fails, print_findings
from npu_config.core.diagnostics import Report
from npu_config.core.message import in_columns, localized, phrase, printable

_LARGE = 1 << 26
"""Bytes of tables that take some seconds to read."""


@click.command("op-summary")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=FILE)
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Number of operators to print.",
)
@click.option(
    "--before",
    metavar="PATH",
    type=FILE,
    help="An earlier profile: show which operators became slower or faster.",
)
@click.option(
    "--graph",
    metavar="GRAPH",
    type=FILE,
    help="The training graph; it shows which float16 is in the network itself, and which "
    "was converted.",
)
@click.option(
    "--type",
    "types",
    multiple=True,
    metavar="TYPE",
    help="Operator types to consider instead of ReduceSum and ReduceSumD.",
)
@click.option(
    "--write-mixlist",
    "mixlist",
    metavar="FILE",
    help="Write an ops_info.json for modify_mixlist that keeps the found operator types "
    "in float32.",
)
@click.option("--force", is_flag=True, help="Overwrite a file that exists.")
@form_option("How the result is printed.")
def command(
    paths: Tuple[str, ...],
    top: int,
    before: Optional[str],
    graph: Optional[str],
    types: Tuple[str, ...],
    mixlist: Optional[str],
    force: bool,
    format_: str,
) -> int:
    """Sum up the time in a profile, and find float16 operators that run on a single core.

    PATH is a table of the profiler (op_summary, op_statistic, task_time, aicpu, step_trace,
    communication_statistic: .csv), or a directory with such tables (PROF_*).

    Exit code 0, or 1 when a table cannot be read; the other tables are still read.
    """
    from npu_config.diagnosis.graph import float16_nodes
    from npu_config.diagnosis.op_summary import advise
    from npu_config.diagnosis.profile import compare_profiles, find_profile_tables, read_profile

    tables = [table for path in paths for table in find_profile_tables(path)]
    with progress(sum(map(_size, tables)), _LARGE) as advance:
        profile = attempt(format_, lambda: read_profile(paths, advance))
    earlier = None
    if before is not None:
        other = before
        earlier = attempt(format_, lambda: read_profile([other]))
    nodes = attempt(format_, lambda: float16_nodes(graph)) if graph else frozenset()
    summary, why = profile.one_block, profile.not_analysed
    advice = None if summary is None else advise(summary, types or None, nodes)
    found = [*profile.diagnostics, *(earlier.diagnostics if earlier is not None else ())]
    compared = None if earlier is None else compare_profiles(earlier, profile)
    if format_ == "json":
        content = _content(profile, earlier, compared, summary, advice, why)
        content["diagnostics"] = [each.to_dict() for each in found]
        say(json.dumps(content, indent=2, ensure_ascii=True) + "\n")
    else:
        say(_profile(profile, top))
        if earlier is not None and compared is not None:
            say(_compared(earlier, profile, compared, top))
        say(_one_block(summary, why, top) + ("" if advice is None else _advice(advice)))
        if found:
            print_findings(found, files=len(profile.tables) + len(found))
    if mixlist is not None:
        write_mixlist(mixlist, () if advice is None else advice.black_list, force)
    return 1 if fails(Report(found), False) else 0


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.isfile(path) else 0


def _content(
    profile: Any, earlier: Any, compared: Any, summary: Any, advice: Any, why: str
) -> Dict[str, Any]:
    """Everything for JSON."""
    result: Dict[str, Any] = {
        "version": 1,
        "tables": [table._asdict() for table in profile.tables],
        "total_us": profile.total_us,
        "waiting_us": profile.waiting_us,
        "engines": [attr.asdict(each) for each in profile.engines],
        "types": [attr.asdict(each) for each in profile.types],
        "operators": [attr.asdict(each) for each in profile.operators],
        "steps": None if profile.steps is None else attr.asdict(profile.steps),
        "one_block": None
        if summary is None
        else {
            "operators": [attr.asdict(each) for each in summary.operators],
            "black_list": list(advice.black_list),
            "casts": [each.name for each in advice.casts],
            "others": list(advice.others),
            "share": advice.share,
        },
        "not_analysed": why,
        "not_read": list(profile.others),
        "compared": None,
    }
    if compared is not None:
        engines, types = ([each._asdict() for each in changes] for changes in compared)
        steps = [None if p.steps is None else attr.asdict(p.steps) for p in (earlier, profile)]
        totals = {"before_us": earlier.total_us, "after_us": profile.total_us}
        result["compared"] = {
            "per_step": None not in steps,
            "engines": engines,
            "types": types,
            "steps": {"before": steps[0], "after": steps[1]},
            **totals,
        }
    return result


Columns = Mapping[str, Callable[[Any], str]]
"""The name of each column, and what gives the cell of an item."""

_SHARES: Columns = {
    phrase("time ms"): lambda each: _ms(each.total_us),
    phrase("share"): lambda each: "{:.1%}".format(each.share),
    phrase("count"): lambda each: "{:,}".format(each.count),
}
_TIMES: Columns = {**_SHARES, phrase("max us"): lambda each: "{:,.1f}".format(each.max_us)}
_CHANGES: Columns = {
    phrase("before ms"): lambda each: _ms(each.before_us),
    phrase("now ms"): lambda each: _ms(each.after_us),
    phrase("change ms"): lambda each: "{:+,.2f}".format(each.change_us / 1e3),
}
_ENGINE: Columns = {phrase("engine"): lambda each: localized(each.engine)}
_TYPE: Columns = {phrase("type"): lambda each: each.type}
_NAME: Columns = {phrase("name"): lambda each: each.name}


def _lines(numbers: Columns, names: Columns, items: Sequence[Any], top: int) -> List[str]:
    """A table of short numbers with the names last, and how many items it leaves out."""
    columns = {**numbers, **names}
    rows = [[printable(cell(each)) for cell in columns.values()] for each in items[: max(0, top)]]
    lines = in_columns([[localized(name) for name in columns], *rows], len(numbers))
    if len(items) > top:
        lines.append(localized("and {:,} more (--top shows more)", len(items) - top))
    return lines


def _ms(microseconds: Optional[float]) -> str:
    return "-" if microseconds is None else "{:,.2f}".format(microseconds / 1e3)


def _profile(profile: Any, top: int) -> str:
    """Engines, steps, types and operators."""
    lines: List[str] = []
    kinds: Dict[str, int] = {}
    for table in profile.tables:
        kinds[table.kind] = kinds.get(table.kind, 0) + 1
    lines.append(
        localized(
            "tables: {}; rows: {:,}, without a time: {:,}",
            ", ".join("{} x {}".format(name, count) for name, count in sorted(kinds.items())),
            sum(table.rows for table in profile.tables),
            sum(table.skipped for table in profile.tables),
        )
    )
    if profile.others:
        names = [os.path.basename(path) for path in profile.others]
        shown = [*names[:5], "..."] if len(names) > 5 else names
        message = "tables that were not read, because their type is unknown: {:,} ({})"
        lines.append(printable(localized(message, len(names), ", ".join(shown))))
    if profile.engines:
        lines.append("")
        sources = {**_ENGINE, phrase("source"): lambda each: each.source}
        lines += _lines(_SHARES, sources, profile.engines, len(profile.engines))
        if profile.waiting_us:
            message = "tasks waited {} ms before they started"
            lines.append(localized(message, _ms(profile.waiting_us)))
    if profile.steps is not None:
        lines += ["", _steps(profile.steps)]
    types = {**_ENGINE, **_TYPE}
    for shares, columns in ((profile.types, types), (profile.operators, {**types, **_NAME})):
        if shares:
            lines += ["", *_lines(_TIMES, columns, shares, top)]
    return "\n".join([*lines, ""])


def _steps(steps: Any) -> str:
    """The iterations in one line."""
    text: str = localized(
        "steps: {:,}; mean {} ms, longest {} ms; forward and backward {} ms, after backward {} ms",
        steps.count,
        *map(_ms, (steps.total_us, steps.longest_us, steps.compute_us, steps.refresh_us)),
    )
    if steps.data_us is not None:
        share = steps.data_us / (steps.total_us or 1.0)
        text += localized("; waiting for data {} ms ({:.1%})", _ms(steps.data_us), share)
    return text


def _compared(earlier: Any, profile: Any, compared: Any, top: int) -> str:
    """What changed since an earlier profile, the largest change first."""
    per_step = earlier.steps is not None and profile.steps is not None
    message = "compared with the earlier profile, total time:"
    if per_step:
        message = "compared with the earlier profile, time of one step:"
    lines = ["", localized(message)]
    types = {**_ENGINE, phrase("type"): lambda each: each.name}
    for changes, columns in zip(compared, (_ENGINE, types)):
        lines += [*_lines(_CHANGES, columns, changes, top), ""]
    return "\n".join(lines)


def _one_block(summary: Any, why: str, top: int) -> str:
    """The float16 operators on one block."""
    if summary is None:
        return str(
            localized("\nfloat16 operators on a single core were not searched for: {}\n", why)
        )
    lines = [""]
    if not summary.operators:
        lines.append(
            localized("no operator with float16 input runs on a single core (Block Dim 1)")
        )
        return "\n".join([*lines, ""])
    lines.append(
        localized("operators with float16 input that run on a single core (Block Dim 1):")
    )
    lines += _lines(_TIMES, {**_TYPE, **_NAME}, summary.operators, top)
    return "\n".join([*lines, ""])


def _advice(advice: Any) -> str:
    lines = []
    if advice.black_list:
        lines.append(
            localized(
                "block list (modify_mixlist, black-list to-add): {} ({:.1%} of the time); "
                "--write-mixlist writes this list",
                ", ".join(advice.black_list),
                advice.share,
            )
        )
    for each in advice.casts:
        lines.append(
            localized(
                'cast the input of "{}" to float32: the network itself computes it in float16, '
                "and the block list does not change this",
                each.name,
            )
        )
    if advice.others:
        lines.append(
            localized(
                "other operator types that run on a single core: {} (pass --type to see whether "
                "float32 is faster for them)",
                ", ".join(advice.others[:8]),
            )
        )
    return "".join("{}\n".format(line) for line in lines)
