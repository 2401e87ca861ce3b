"""``npu-config op-summary``: where the time of a profile went, and what follows."""

import json
import os
from typing import Any, Dict, List, Optional, Sequence, Tuple

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
    help="How many operators are printed.",
)
@click.option(
    "--before",
    metavar="PATH",
    type=FILE,
    help="An earlier profile: what became slower, and what faster.",
)
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
    """Say where the time of a profile went, and find float16 operators on a single block.

    PATH is a table of the profiler (op_summary, op_statistic, task_time, aicpu, step_trace,
    communication_statistic: .csv), or a directory with some (PROF_*).

    Exit code 0, or 1 when a table cannot be read; the others are read all the same.
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


def _lines(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 0) -> List[str]:
    """A table of short numbers with the names last; ``left`` columns are set to the left."""
    cells = [[localized(cell) for cell in head], *([printable(c) for c in row] for row in rows)]
    return in_columns(cells, len(head) - left)


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
        message = "not read, as their kind is not known here: {:,} ({})"
        lines.append(printable(localized(message, len(names), ", ".join(shown))))
    if profile.engines:
        lines.append("")
        rows = [
            [_ms(e.total_us), "{:.1%}".format(e.share), "{:,}".format(e.count),
             localized(e.engine), e.source]
            for e in profile.engines
        ]  # fmt: skip
        head = (phrase("time ms"), phrase("share"), phrase("count"), phrase("engine"))
        lines += _lines((*head, phrase("source")), rows, 2)
        if profile.waiting_us:
            message = "tasks waited {} ms before they began"
            lines.append(localized(message, _ms(profile.waiting_us)))
    if profile.steps is not None:
        lines += ["", _steps(profile.steps)]
    for shares, name in ((profile.types, phrase("type")), (profile.operators, phrase("name"))):
        if shares:
            by_name = shares is profile.operators
            rows = [
                [_ms(e.total_us), "{:.1%}".format(e.share), "{:,}".format(e.count),
                 "{:,.1f}".format(e.max_us), localized(e.engine), e.type,
                 *([e.name] if by_name else [])]
                for e in shares[: max(0, top)]
            ]  # fmt: skip
            columns = [phrase("time ms"), phrase("share"), phrase("count"), phrase("max us")]
            columns += [phrase("engine"), phrase("type"), *([name] if by_name else [])]
            lines += ["", *_lines(columns, rows, 3 if by_name else 2)]
            lines += _more(len(shares) - top)
    return "\n".join([*lines, ""])


def _more(count: int) -> List[str]:
    return [localized("and {:,} more (--top shows more)", count)] if count > 0 else []


def _steps(steps: Any) -> str:
    """The iterations in one line."""
    text: str = localized(
        "steps: {:,}; mean {} ms, longest {} ms; forward to backward {} ms, after it {} ms",
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
    message = "compared with the earlier profile, all of its time:"
    if per_step:
        message = "compared with the earlier profile, time of one step:"
    lines = ["", localized(message)]
    head = (phrase("before ms"), phrase("now ms"), phrase("change ms"), phrase("engine"))
    for changes, last in ((compared[0], ()), (compared[1], (phrase("type"),))):
        rows = [
            [_ms(c.before_us), _ms(c.after_us), "{:+,.2f}".format(c.change_us / 1e3),
             localized(c.engine), *([c.name] if last else [])]
            for c in changes[: max(0, top)]
        ]  # fmt: skip
        lines += [*_lines((*head, *last), rows, 1 + len(last)), *_more(len(changes) - top), ""]
    return "\n".join(lines)


def _one_block(summary: Any, why: str, top: int) -> str:
    """The float16 operators on one block."""
    if summary is None:
        return str(
            localized("\nfloat16 operators on a single block were not looked for: {}\n", why)
        )
    lines = [""]
    if not summary.operators:
        lines.append(localized("no operator with float16 input runs on a single block"))
        return "\n".join([*lines, ""])
    lines.append(localized("operators with float16 input on a single block:"))
    rows = [
        [_ms(e.total_us), "{:.1%}".format(e.share), "{:,}".format(e.count),
         "{:,.1f}".format(e.max_us), e.type, e.name]
        for e in summary.operators[: max(0, top)]
    ]  # fmt: skip
    head = (phrase("time ms"), phrase("share"), phrase("count"), phrase("max us"))
    lines += _lines((*head, phrase("type"), phrase("name")), rows, 2)
    lines += _more(len(summary.operators) - top)
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
