"""The report for people: text for a terminal, and a page that needs nothing else.

The text has the cause first, where, what to do; then the others, then the ranks.  On the page
the ranks stand along a line of time.
"""

import contextlib
import re
import zlib
from typing import IO, Callable, Iterator, List, Optional, Sequence, Tuple

from npu_config.core.message import in_columns, listed, localized, phrase, printable
from npu_config.logs.causes import Cause
from npu_config.logs.facts import class_name, code_of, led_to
from npu_config.logs.lines import between, decoded, opened
from npu_config.logs.report import LogReport, RankState, shown_time
from npu_config.logs.verdict import trained_behind
from npu_config.reporters.page import escaped, page

__all__ = [
    "PAGE_TITLE", "TIMELINE_TITLE", "again", "around", "log_page", "no_failure", "text_report",
]  # fmt: skip

PAGE_TITLE = phrase("npu-config log: what failed first")
TIMELINE_TITLE = phrase("the first error of each rank")
_WIDE, _LINES, _OTHERS, _RANKS = 200, 8, 8, 16


_FRAMEWORKS = {
    "mindspore": "MindSpore",
    "pytorch": "PyTorch",
    "paddle": "PaddlePaddle",
    "ggml": "ggml",
}


def text_report(report: LogReport, everything: bool = False) -> str:
    """The report as text.

    Args:
        report: what was found.
        everything: every other cause, every rank, the whole message.
    """
    cause = report.first_cause
    parts: List[str] = []
    if cause is None:
        parts += [localized(each) for each in no_failure(report)]
    else:
        parts += _first(report, cause, everything)
        parts += _rest(report, everything)
    parts += _ranks(report, everything)
    for path, why in report.unread:
        parts.append(localized("not read: {}: {}", printable(path), localized(why)))
    return "\n".join(parts) + "\n"


def no_failure(report: LogReport) -> List[str]:
    """What can be said where no failure is seen: it is no all-clear where no end is seen."""
    if not report.files:
        return [phrase("no result: no line of these files could be read as a log")]
    if not report.endless:
        logs = phrase("log") if report.files == 1 else phrase("logs")
        return [phrase("nothing failed in {:,} {}", report.files, logs), *_survived(report)]
    names = [printable(path) for path in report.endless[:_OTHERS]]
    if len(names) < len(report.endless):
        names.append("...")
    if report.foreign:
        return [
            phrase(
                "these logs show no failure, and no training job on the NPU either: {}; pass "
                "the output of the training script and its plogs",
                listed(names),
            )
        ]
    return [
        phrase("these logs show no failure, but no end of the job either: {}", listed(names)),
        phrase(
            "the job may still run, may have been terminated, or the log is truncated: check "
            "the exit code, and pass the logs of the other ranks and of the launcher, too"
        ),
        *_survived(report),
    ]


def _survived(report: LogReport) -> List[str]:
    return [
        phrase(
            "logged, but the job went on, so not the cause: {}:{} {}",
            printable(cause.file),
            cause.line,
            _cut(cause.message.split("\n")[0]),
        )
        for cause in report.survived[:_OTHERS]
    ]


def _first(report: LogReport, cause: Cause, everything: bool) -> List[str]:
    lines = [localized("first cause: {}", _title(cause))]
    lines += [localized(each) for each in verdict_words(report)]
    lines.append("  {}:{}{}".format(printable(cause.file), cause.line, _at(cause)))
    beside = around(cause.file, cause.line, copy=report.copy)
    for number, text in beside:
        mark = ">" if number == cause.line else " "
        lines.append("  {} {:>6} | {}".format(mark, number, _cut(text)))
    message = list(cause.block) or cause.message.split("\n")
    if len(message) > 1 or not beside:
        lines.append(localized("message:"))
        shown = message if everything else message[:_LINES]
        lines += ["  " + _cut(line, 600) for line in shown]
        if len(shown) < len(message):
            lines.append(
                localized(
                    ("  ... more lines of this message: {} (--all)"), len(message) - len(shown)
                )
            )
    if cause.operators:
        lines.append(localized("operator: {}", printable(", ".join(cause.operators))))
    lines.append(localized("what it means: {}", localized(cause.cause)))
    lines.append(localized("what to do:"))
    lines += ["  - " + localized(each) for each in cause.todo]
    lines += _leads(cause)
    if report.framework not in ("", "tensorflow"):
        lines.append(
            localized(
                "this is a {} job: options of the TensorFlow adapter that a message mentions "
                "do not apply to this job",
                _FRAMEWORKS[report.framework],
            )
        )
    return lines


def _title(cause: Cause) -> str:
    name = cause.code or cause.pattern or cause.component or class_name(cause.class_)
    raised = re.match(r"[\w.]{1,200}(?=: |$)", cause.message)
    if cause.pattern == "py-generic" and not cause.code and raised is not None:
        name = raised.group().rpartition(".")[2]
    code = code_of(cause.code) if cause.code else None
    if code is not None and code.title:
        name = "{} {}".format(name, code.title)
    words = [localized("class {}", class_name(cause.class_))]
    if cause.rank is not None:
        words.append(localized("rank {}", cause.rank))
    if cause.device is not None:
        words.append(localized("device {}", cause.device))
    if cause.component and cause.component != name:
        words.append(cause.component)
    return localized("{} ({})", name, ", ".join(words))


def verdict_words(report: LogReport) -> List[str]:
    """How sure it is, in sentences: who stopped, who only waited, what is missing."""
    verdict = report.verdict
    lost = verdict.process.lost if verdict.process is not None else None
    waiting = [
        state.rank
        for state in report.ranks
        if state.rank is not None
        and state.rank != verdict.rank
        and state.first_error is not None
        and state.rank not in verdict.ranks
    ]
    found: List[str] = []
    if verdict.missing:
        names = listed(str(rank) for rank in verdict.missing)
        found.append(
            phrase(
                "there is no log of rank {}: the rank was never started or was killed, or its "
                "log is elsewhere; check this rank",
                names,
            )
            if len(verdict.missing) == 1
            else phrase(
                "there are no logs of the ranks {}: they were never started or were killed, or "
                "their logs are elsewhere; check these ranks",
                names,
            )
        )
    elif verdict.ended:
        found.append(
            phrase(
                "rank {} ended normally while other ranks still waited for it: the numbers of "
                "steps or samples differ",
                verdict.rank,
            )
        )
    elif verdict.graphs:
        found.append(
            phrase(
                "every rank only waited, and rank {} compiled a graph that no other rank "
                "compiled: this rank runs a different graph",
                verdict.rank,
            )
        )
    elif verdict.no_root:
        found.append(
            phrase(
                "the rank that failed first is unknown: these logs only say that another rank "
                "stopped, is late, or cannot be reached"
            )
        )
        awaited = sorted(
            {rank for process in (verdict.process,) if process for rank in process.waits_for}
        )
        found.append(
            phrase("fetch the log of rank {} next", listed(str(rank) for rank in awaited))
            if awaited
            else phrase(
                "fetch the logs of the other ranks; compare the time between the earliest and "
                "the latest error with the timeout"
            )
        )
    elif verdict.ranks:
        found.append(phrase("the same on ranks {}", listed(str(rank) for rank in verdict.ranks)))
    elif verdict.rank is not None and waiting and _silent(report):
        found.append(
            phrase(
                "{} waited for rank {} until the timeout, and the log of rank {} shows no "
                "error: this rank was late, hung, or was terminated; check what this rank did in "
                "that time",
                _others(waiting),
                verdict.rank,
                verdict.rank,
            )
        )
    elif verdict.rank is not None and waiting:
        first = report.first_cause
        time = shown_time(first.time) if first is not None and first.timed else None
        name = (first.code or class_name(first.class_)) if first is not None else ""
        found.append(
            phrase(
                "rank {} stopped at {} with {}; {} waited for it",
                verdict.rank,
                time,
                name,
                _others(waiting),
            )
            if time
            else phrase(
                "rank {} stopped with {}; {} waited for it", verdict.rank, name, _others(waiting)
            )
        )
    if verdict.process and verdict.event and trained_behind(verdict.process, verdict.event):
        found.append(phrase("lines of training follow: this error may not have ended the job"))
    if lost is not None:
        found.append(
            phrase(
                "the first lost connection was to device {} of server {}; read the log of "
                "this device first",
                lost[1],
                lost[0],
            )
        )
    return found


def _silent(report: LogReport) -> bool:
    """Whether the rank that is to blame says of no error itself."""
    rank = report.verdict.rank
    return any(state.rank == rank and state.first_error is None for state in report.ranks)


def _others(ranks: Sequence[int]) -> str:
    if len(ranks) == 1:
        return phrase("rank {}", ranks[0])
    names = [str(rank) for rank in ranks[:_RANKS]]
    return phrase("ranks {}", listed([*names, "..."] if len(ranks) > _RANKS else names))


def _when(cause: Cause) -> Optional[str]:
    time = shown_time(cause.time)
    return time if time is None or cause.timed else localized("after {}", time)


def _at(cause: Cause) -> str:
    time = _when(cause)
    return "  " + time if time else ""


def _leads(cause: Cause) -> List[str]:
    leads = cause.leads_to
    lines: List[str] = []
    for kind, title in (
        ("options", phrase("options: {}")),
        ("variables", phrase("variables: {}")),
        ("rank_table_keys", phrase("keys of the rank table: {}")),
        ("rules", phrase("rules: {}")),
    ):
        if leads.get(kind):
            lines.append(localized(title, localized(listed(led_to(leads[kind])))))
    for place in cause.places:
        where = "{}:{}".format(place.path, place.line) if place.line else place.path
        lines.append(
            localized("place: {} {}", printable(where), localized(place.text))
            if place.text
            else localized("place: {}", printable(where))
        )
    if leads.get("commands"):
        lines.append(localized("next:"))
        lines += ["  " + command for command in leads["commands"]]
    return lines


def _rest(report: LogReport, everything: bool) -> List[str]:
    lines: List[str] = []
    shown = report.others if everything else report.others[:_OTHERS]
    if shown:
        lines.append(localized("other causes:"))
        for cause in shown:
            lines.append("  {}:{} {}".format(printable(cause.file), cause.line, _title(cause)))
            lines.append("    " + _cut(cause.message.split("\n")[0]))
        if len(shown) < len(report.others):
            lines.append(localized("  ... {} more (--all)", len(report.others) - len(shown)))
    lines += [localized(each) for each in _survived(report)]
    if report.follow_ups:
        lines.append(
            localized(
                ("lines that are only consequences of other errors: {:,}"), report.follow_ups
            )
        )
    return lines


_TITLES = (
    phrase("rank"),
    phrase("device"),
    phrase("host"),
    phrase("first error"),
    phrase("at"),
    phrase("time of last line"),
    phrase("log"),
)


def _ranks(report: LogReport, everything: bool) -> List[str]:
    states = report.ranks
    if len(states) < 2:
        return []
    shown = states
    if len(states) > _RANKS and not everything:  # those that failed, and the first of the others
        worst = sorted(range(len(states)), key=lambda at: (states[at].first_error is None, at))
        shown = [states[at] for at in sorted(worst[:_RANKS])]
    lines = in_columns([[localized(title) for title in _TITLES], *map(_row, shown)])
    if len(shown) < len(states):
        lines.append(localized("  ... {} more (--all)", len(states) - len(shown)))
    return ["", *lines]


def _row(state: RankState) -> Tuple[str, ...]:
    error = state.first_error
    return (
        "-" if state.rank is None else str(state.rank),
        "-" if state.device is None else str(state.device),
        printable(state.host or "-"),
        "-" if error is None else (error.code or error.pattern or class_name(error.class_)),
        (_when(error) or "-") if error is not None else "-",
        shown_time(state.last_time) or "-",
        printable(state.file),
    )


def _cut(text: str, most: int = _WIDE) -> str:
    text = printable(text.replace("\t", " "))
    return text if len(text) <= most else text[:most] + " ..."


def around(
    path: str, line: int, lines: int = 1, copy: Optional[IO[bytes]] = None
) -> List[Tuple[int, str]]:
    """A line of a file with those before and behind it; nothing where it cannot be read again."""
    if path == "-" and copy is None:
        return []
    first = max(line - lines, 1)
    try:
        with again(path, copy) as stream:
            found = between(stream, first, line + lines)
    except (OSError, EOFError, zlib.error):
        return []
    return [(first + number, decoded(raw.rstrip(b"\r"))) for number, raw in enumerate(found)]


@contextlib.contextmanager
def again(path: str, copy: Optional[IO[bytes]]) -> Iterator[IO[bytes]]:
    """A log once more; of standard input what was kept of it."""
    if path != "-" or copy is None:
        with opened(path) as stream:
            yield stream
        return
    copy.seek(0)
    yield copy


_STYLE = """
body{max-width:75em}
pre{background:#f6f8fa;padding:1em;overflow-x:auto;white-space:pre-wrap}
svg{width:100%;height:auto;font:12px system-ui,sans-serif}
svg text{fill:currentColor}
.axis{stroke:#8b949e}.row{stroke:#d0d7de;stroke-width:6}.other{fill:#bf8700}.own{fill:#cf222e}
.end{fill:#57606a}
@media (prefers-color-scheme:dark){pre{background:#161b22}.row{stroke:#30363d}}
"""
_ENDS = '<text x="{}" y="16">{}</text><text x="{}" y="16" text-anchor="end">{}</text>'
_AXIS = '<line class="axis" x1="{0}" y1="22" x2="{1}" y2="22"/>'
_NAME = '<text x="0" y="{}">{}</text>'
_LINE = '<line class="row" x1="{}" y1="{y}" x2="{:.1f}" y2="{y}"/>'
_DOT = '<circle class="{}" cx="{:.1f}" cy="{}" r="6"><title>{}</title></circle>'
_DRAWING = '<svg viewBox="0 0 {} {}" role="img">{}</svg>'
_WIDTH, _LEFT, _ROW, _TOP = 1000, 150, 24, 30


def log_page(report: LogReport, text: Callable[[str], str] = str) -> str:
    """The page.

    Args:
        report: what was found.
        text: is applied to every text of the logs: it takes names out.
    """
    title = localized(PAGE_TITLE)
    parts = [
        "<h1>{}</h1>".format(escaped(title)),
        _timeline(report.ranks, text),
        "<pre>{}</pre>".format(escaped(text(text_report(report, everything=True)))),
    ]
    return page(title, parts, _STYLE, script="")


def _timeline(states: Sequence[RankState], text: Callable[[str], str]) -> str:
    times = [state.last_time for state in states if state.last_time is not None]
    times += [
        state.first_error.time
        for state in states
        if state.first_error is not None and state.first_error.time is not None
    ]
    if len(states) < 2 or not times:
        return ""
    start, end = min(times), max(times)
    span = max(end - start, 1.0)
    height = _TOP + _ROW * len(states) + 20

    def x(time: float) -> float:
        return _LEFT + (time - start) / span * (_WIDTH - _LEFT - 40)

    parts: List[str] = [
        _ENDS.format(_LEFT, shown_time(start), _WIDTH, shown_time(end)),
        _AXIS.format(_LEFT, _WIDTH - 40),
    ]
    earliest = min(
        (s.first_error.time for s in states if s.first_error and s.first_error.time), default=None
    )
    for number, state in enumerate(states):
        y = _TOP + _ROW * number + 10
        name = (
            localized("rank {}", state.rank) if state.rank is not None else text(state.file)[-24:]
        )
        parts.append(_NAME.format(y + 4, escaped(name)))
        if state.last_time is not None:
            parts.append(_LINE.format(_LEFT, x(state.last_time), y=y))
        error = state.first_error
        if error is not None and error.time is not None:
            title = "{} {}".format(
                error.code or error.pattern or error.class_, shown_time(error.time)
            )
            kind = "own" if error.time == earliest else "other"
            parts.append(_DOT.format(kind, x(error.time), y, escaped(title)))
    head = "<h2>{}</h2>".format(escaped(localized(TIMELINE_TITLE)))
    return head + _DRAWING.format(_WIDTH, height, "".join(parts))
