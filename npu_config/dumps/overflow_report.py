"""How the overflows of a job are told: equal ones together, in sentences, as JSON, as a page.

An operator that overflows does so in every step and on every device; what is equal in all but
its time is one thing to mend.  Beside that: the trend over the steps, and an earlier run.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.diagnostics import Severity
from npu_config.core.message import localized, phrase
from npu_config.dumps.overflow import Overflow, OverflowReport, plain
from npu_config.reporters.page import escaped, folded, page, sortable

GROWING, FALLING, CHANGING = phrase("growing"), phrase("falling"), phrase("changing")
STEADY = phrase("the same in every step")


class OverflowGroup(NamedTuple):
    """Overflows of one operator with the same status and origin.

    Args:
        first: the first of them in order of step and time.
        members: all of them.
        steps: the iterations.
        devices: the devices.
    """

    first: Overflow
    members: Tuple[Overflow, ...]
    steps: Tuple[int, ...]
    devices: Tuple[int, ...]


def grouped(overflows: Sequence[Overflow]) -> Tuple[OverflowGroup, ...]:
    """Equal overflows together, in the order of the first of each."""
    groups: Dict[Any, List[Overflow]] = {}
    for each in overflows:
        words = tuple((unit.unit, unit.words) for unit in each.units)
        key = (_identity(each), each.model, words, each.origin, each.came_in_with)
        groups.setdefault(key, []).append(each)
    return tuple(
        OverflowGroup(
            members[0],
            tuple(members),
            tuple(sorted({each.step for each in members if each.step is not None})),
            tuple(sorted({each.device for each in members if each.device is not None})),
        )
        for members in groups.values()
    )


def _identity(overflow: Overflow) -> Tuple[object, object]:
    """The operator, or the ids of its task where its dump is not there."""
    if overflow.op_name is None:
        return overflow.task, overflow.stream
    return overflow.op_name, overflow.op_type


def by_step(overflows: Sequence[Overflow]) -> Dict[int, int]:
    """How many overflows each step has; steps without any leave no folder."""
    counts: Dict[int, int] = {}
    for each in overflows:
        if each.step is not None:
            counts[each.step] = counts.get(each.step, 0) + 1
    return dict(sorted(counts.items()))


def trend(counts: Dict[int, int]) -> Optional[str]:
    """Where the counts of the steps go; None with a single step."""
    numbers = list(counts.values())
    pairs = list(zip(numbers, numbers[1:]))
    if not pairs:
        return None
    if all(one == other for one, other in pairs):
        return STEADY
    if all(one <= other for one, other in pairs):
        return GROWING
    return FALLING if all(one >= other for one, other in pairs) else CHANGING


class RunsCompared(NamedTuple):
    """The overflows of two runs, by operator.

    Args:
        gone: of the earlier run only.
        left: of both, as the later run has them.
        new: of the later run only.
    """

    gone: Tuple[OverflowGroup, ...]
    left: Tuple[OverflowGroup, ...]
    new: Tuple[OverflowGroup, ...]


def compare_runs(before: Sequence[Overflow], after: Sequence[Overflow]) -> RunsCompared:
    """Which operators overflow no more, still, and newly.

    An operator that another fusion made is the same when it stands for the same operators of the
    network.

    Args:
        before: the overflows of the earlier run.
        after: those of the later run.
    """
    old = {name for each in before for name in _names(each)}
    now = {name for each in after for name in _names(each)}
    return RunsCompared(
        grouped([each for each in before if not now & _names(each)]),
        grouped([each for each in after if old & _names(each)]),
        grouped([each for each in after if not old & _names(each)]),
    )


def _names(overflow: Overflow) -> "set[object]":
    if overflow.op_name is None:
        return {_identity(overflow)}
    return {overflow.op_name, *overflow.stands_for}


def plain_group(group: OverflowGroup) -> Dict[str, Any]:
    """A group as JSON has it."""
    return {
        "op_name": group.first.op_name,
        "op_type": group.first.op_type,
        "count": len(group.members),
        "steps": list(group.steps),
        "devices": list(group.devices),
        "first": plain(group.first),
    }


def name_of(group: OverflowGroup) -> str:
    """The operator, or the task where its dump is not there."""
    each = group.first
    return each.op_name or localized("task {} of stream {}", each.task, each.stream)


def origin_of(overflow: Overflow) -> str:
    """Where it came from, in the reader's language."""
    result = localized(overflow.origin)
    if overflow.came_in_with:
        result += localized(" with input {}", ", ".join(map(str, overflow.came_in_with)))
    return result


def looked_at(report: OverflowReport) -> List[str]:
    """Which runs the result is of, and which were left out."""
    if not any(run for _, run in report.runs):
        return []
    named = [
        run or "?" if device is None else localized("{} (device {})", run or "?", device)
        for device, run in report.runs
    ]
    result = [localized("run {}", ", ".join(named))]
    if report.older:
        others = ", ".join(sorted({run or "?" for _, run in report.older}))
        result.append(localized("other runs, not analysed: {} (select a run with --run)", others))
    return result


def outcome(report: OverflowReport, path: str) -> List[str]:
    """What a report comes to, in sentences of the reader's language."""
    count, operators = len(report.overflows), len({_identity(o) for o in report.overflows})
    if not count:
        lines = [
            localized("the recorded overflows cannot be counted: a record is incomplete")
            if any(each.severity is Severity.ERROR for each in report.diagnostics)
            else localized("no overflow was recorded"),
            localized("Ascend 950 writes no overflow records.")
            + " "
            + localized(
                "The values were not checked; check them with: npu-config dump scan {}", path
            ),
        ]
    elif count == 1:
        lines = [localized("{:,} overflow; start with the first", count)]
    else:
        lines = [
            localized("{:,} overflows; start with the first", count),
            localized("operators that overflowed: {:,}", operators),
        ]
    counts = by_step(report.overflows)
    direction = trend(counts)
    if direction is not None:
        pairs = ["{}: {:,}".format(step, number) for step, number in counts.items()]
        shown = [*pairs[:10], "...", *pairs[-10:]] if len(pairs) > 20 else pairs
        lines.append(localized("by step: {}; {}", ", ".join(shown), direction))
    if report.suspicious:
        message = "statistics tables that show NaN or infinities but have no record: {:,}; {}"
        lines.append(localized(message, len(report.suspicious), report.suspicious[0]))
    if report.strays:
        message = "overflow records whose status shows no overflow: {:,}"
        lines.append(localized(message, len(report.strays)))
    return lines


def verdict_on(compared: RunsCompared) -> str:
    """Whether a change helped, in a sentence of the reader's language."""
    gone, left, new = map(len, compared)
    if left:
        message = "the change did not help these operators: {:,} of {:,} still overflow"
        return localized(message, left, left + gone)
    if new:
        return localized("the overflow no longer occurs at this operator, but at another operator")
    if gone:
        return localized("none of the operators of the earlier run overflows in this run")
    return localized("neither run has an overflow")


_SHOWN = ("minimum", "maximum", "mean", "zeros", "nan", "infinite", "at_limit")
_STYLE = """
h2 code,td{overflow-wrap:anywhere}
.first p,.fine p{margin:.2em 0}
ul{margin:.3em 0}details{margin:1em 0}
.bars td{padding:.1em .5em}.bars i{display:inline-block;height:.8em;background:#cf222e}
"""
_BAR, _MOST = 200, 30
_TABLE = '<table class="bars"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>'
_ROW = '<tr><td class="n">{}</td><td class="n">{:,}</td><td><i style="width:{}px"></i></td></tr>'


def overflow_page(
    report: OverflowReport, title: str, path: str, compared: Optional[RunsCompared] = None
) -> str:
    """The page of the overflows of a job.

    Args:
        report: what was found.
        title: where.
        path: of the dump.
        compared: what became of the overflows of an earlier run.
    """
    groups = grouped(report.overflows)
    lines = "".join("<p>{}</p>".format(escaped(line)) for line in outcome(report, path))
    parts = [
        "<h1>{}</h1>".format(escaped(title)),
        '<div class="{}">{}</div>'.format("first" if groups else "", lines),
        _items(looked_at(report)),
        _earlier(compared),
        _steps(report),
        _summary(groups),
    ]
    parts += [_group(number, group) for number, group in enumerate(groups, 1)]
    if report.mixlist:
        head = localized("Operator types to keep in float32")
        types = escaped(", ".join(report.mixlist))
        parts.append("<h2>{}</h2><p>{}</p>".format(escaped(head), types))
    notes = [localized(diagnostic.message) for diagnostic in report.diagnostics]
    if notes:
        parts.append("<h2>{}</h2>{}".format(escaped(localized("Remarks")), _items(notes)))
    return page(title, parts, _STYLE)


def _items(texts: Sequence[str]) -> str:
    items = "".join("<li>{}</li>".format(escaped(text)) for text in texts)
    return "<ul>{}</ul>".format(items) if items else ""


def _earlier(compared: Optional[RunsCompared]) -> str:
    if compared is None:
        return ""
    rows = [
        ("diverges" if members is not compared.gone else "", [localized(words), name_of(group)])
        for words, members in (
            (phrase("still overflowing"), compared.left),
            (phrase("newly overflowing"), compared.new),
            (phrase("no longer overflowing"), compared.gone),
        )
        for group in members
    ]
    return "<h2>{}</h2><p>{}</p>{}".format(
        escaped(localized("Compared with the earlier run")),
        escaped(verdict_on(compared)),
        sortable([localized("status"), localized("operator")], rows) if rows else "",
    )


def _steps(report: OverflowReport) -> str:
    counts = by_step(report.overflows)
    if len(counts) < 2:
        return ""
    most = max(counts.values())
    rows = "".join(
        _ROW.format(step, count, max(1, _BAR * count // most)) for step, count in counts.items()
    )
    heads = "".join(
        "<th>{}</th>".format(escaped(localized(name)))
        for name in (phrase("step"), phrase("overflows"), "")
    )
    body = _TABLE.format(heads, rows)
    return folded(localized("Overflows by step"), body, len(counts) <= _MOST)


def _summary(groups: Sequence[OverflowGroup]) -> str:
    if len(groups) < 2:
        return ""
    rows = [
        (
            "",
            [
                str(number),
                name_of(group),
                group.first.op_type or "?",
                str(len(group.members)),
                _few(group.steps),
                _few(group.devices),
                origin_of(group.first),
            ],
        )
        for number, group in enumerate(groups, 1)
    ]
    heads = (
        "#",
        phrase("operator"),
        phrase("type"),
        phrase("overflows"),
        phrase("step"),
        phrase("device"),
        phrase("origin"),
    )
    return sortable([localized(head) for head in heads], rows)


def _few(numbers: Sequence[int]) -> str:
    texts = [str(number) for number in numbers]
    return ", ".join([*texts[:4], "...", *texts[-3:]] if len(texts) > 8 else texts) or "?"


def _group(number: int, group: OverflowGroup) -> str:
    each = group.first
    lines: List[str] = [
        "{}: {}{}".format(unit.unit, localized(text), "" if sure else localized(" (uncertain)"))
        for unit in each.units
        for text, sure in unit.words
    ]
    if len(group.members) > 1:
        lines.insert(0, localized("{:,} equal overflows; the first:", len(group.members)))
    if each.stands_for:
        lines.append(localized("corresponds to {} in the network", ", ".join(each.stands_for)))
    if each.passes:
        lines.append(localized("created by the fusion passes {}", ", ".join(each.passes)))
    rows = []
    for tensor in each.tensors:
        numbers = tensor.statistics
        values = [""] * len(_SHOWN)
        if numbers is not None:
            values = ["{:g}".format(getattr(numbers, name)) for name in _SHOWN[:3]]
            values += [str(getattr(numbers, name)) for name in _SHOWN[3:]]
        name = "{} {}".format(localized(tensor.side), tensor.number)
        shape = "x".join(map(str, tensor.shape))
        row = [name, tensor.data_type, shape, *values, localized(tensor.reason)]
        rows.append(("" if numbers is None or numbers.is_clean else "diverges", row))
    heads = [
        localized(head)
        for head in (
            phrase("tensor"),
            phrase("data type"),
            phrase("shape"),
            phrase("minimum"),
            phrase("maximum"),
            phrase("mean"),
            phrase("zeros"),
            "NaN",
            phrase("infinite"),
            phrase("at the limit"),
            phrase("remark"),
        )
    ]
    where = localized(
        "{}, step {}, device {}: {}",
        each.op_type or localized("unknown type"),
        _few(group.steps),
        _few(group.devices),
        origin_of(each),
    )
    return '<h2 id="o{0}">{0}. <code>{1}</code></h2><p>{2}</p>{3}{4}<p>{5}</p>{6}'.format(
        number,
        escaped(name_of(group)),
        escaped(where),
        _items(lines),
        sortable(heads, rows) if rows else "",
        escaped(localized("What to do:")),
        _items([localized(text) for text in each.advice]),
    )
