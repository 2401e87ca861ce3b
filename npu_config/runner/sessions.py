"""What was seen of a session: what it is configured with, what it ran and how often."""

from dataclasses import replace
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import attr

from npu_config.core.calls import script_place
from npu_config.core.diagnostics import Diagnostic, Place, Severity
from npu_config.core.message import language, listed, phrase
from npu_config.core.settings import UNKNOWN
from npu_config.diagnosis.graph.shapes import refused
from npu_config.proto import decode
from npu_config.rules.case import judge
from npu_config.runner.calls import Calls, SessionCall, Shape, Shapes
from npu_config.runner.doings import Doings
from npu_config.situations import shapes as situations
from npu_config.tf1.purpose import OTHER, TRAINS


@attr.s(slots=True, auto_attribs=True)
class SeenSession:
    """A session that the script made.

    Args:
        place: where the script made it.
        options: option name to value, as the session carries them.
        findings: what the rules find in its configuration.
        calls: what it ran.
        loops: runs of the script that were loops of several runs of TensorFlow.
        rounds: how many runs of TensorFlow these were.
        trains: whether a run of it trained, or was to train when the script was stopped.
    """

    place: Place
    options: Dict[str, Any]
    findings: Tuple[Diagnostic, ...]
    calls: Calls
    loops: int = 0
    rounds: int = 0
    trains: bool = False

    @property
    def runs(self) -> int:
        """How often the script ran it, without initialisation."""
        return self.loops - self.rounds + self._times(lambda purpose: purpose != OTHER)

    @property
    def steps(self) -> int:
        """How many training steps that was: a loop makes several in one run."""
        return self._times(lambda purpose: purpose == TRAINS)

    def _times(self, counts: Callable[[str], bool]) -> int:
        return sum(each.times for each in list(self.calls.seen) if counts(each.purpose))

    @property
    def lacks_optimizer(self) -> bool:
        """Whether nothing of it runs on the NPU."""
        return any(each.rule == "NPU801" for each in self.findings)

    @property
    def of_the_npu(self) -> Tuple[Diagnostic, ...]:
        """The findings, but for those of a session that is meant for the CPU.

        A session without NpuOptimizer that trains lacks it, and nothing else matters; one that
        does not train may be there to read data, or to evaluate.
        """
        if not self.lacks_optimizer:
            calls = self.calls
            return (*self.findings, *calls.grown, *conclude(self.options, list(calls.seen)))
        missing = (each for each in self.findings if each.rule == "NPU801")
        return tuple(missing) if self.trains else ()

    def to_dict(self) -> Dict[str, Any]:
        """The object of a report."""
        return {
            "path": self.place.path,
            "line": self.place.line,
            "options": {name: _plain(value) for name, value in self.options.items()},
            "findings": [each.localized(language()).to_dict() for each in self.findings],
            "runs": self.runs,
            "steps": self.steps,
            "not_looked_at": [
                {"path": place.path, "line": place.line, "why": str(why)}
                for why, place in list(self.calls.unseen.items())
            ],
            "calls": [each.to_dict() for each in list(self.calls.seen)[:_MOST_CALLS]],
        }


_MOST_CALLS = 100


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value if isinstance(value, (bool, int, float, str)) or value is None else str(value)


def see(
    session: Any, is_mine: Callable[[str], bool], doings: Optional[Doings] = None
) -> SeenSession:
    """What there is to see of a session that the script makes now.

    Args:
        session: the session.
        is_mine: whether a file is the script, or a module beside it.
        doings: what this rank does; None for a job of one.
    """
    place = script_place()
    config = getattr(session, "_config", None)
    if config is None:
        return SeenSession(place, {}, (), Calls(None, is_mine))
    settings = decode(config)
    options = {
        name: None if setting.value is UNKNOWN else setting.value
        for name, setting in settings.entries.items()
    }
    where = place._asdict()
    findings = tuple(replace(each, **where) for each in judge(settings))
    is_for_npu = all(each.rule != "NPU801" for each in findings)
    is_strict = not getattr(config, "allow_soft_placement", True)
    calls = Calls(options if is_for_npu else None, is_mine, doings, is_strict)
    return SeenSession(place, options, findings, calls)


_FEW, _MANY_SETS = 3, 10
_SHOWN = 4


def conclude(options: Mapping[str, Any], calls: Sequence[SessionCall]) -> Iterator[Diagnostic]:
    """The findings about the calls of one session.

    Args:
        options: what the session is configured with.
        calls: what it ran.
    """
    grows = bool(options.get("compile_dynamic_mode")) or _has_profiles(options)
    yield from _of_graphs(calls)
    for call in list(calls):
        if call.purpose != OTHER:
            yield from _shapes(call, options, grows)
            yield from _flow(call, options)
    yield from _sets(calls)


def _has_profiles(options: Mapping[str, Any]) -> bool:
    chosen = options.get("input_shape") and options.get("dynamic_dims")
    return bool(options.get("dynamic_input") or chosen)


def _of_graphs(calls: Sequence[SessionCall]) -> Iterator[Diagnostic]:
    """What the graphs show, once for each line; of what matters when repeated, what was."""
    by_line: Dict[Any, Tuple[List[Diagnostic], Dict[str, int]]] = {}
    for call in calls:
        for found, is_hot, operations in call.shown:
            place = None if found.situation in _ONCE else (found.path, found.line)
            same, times = by_line.setdefault((found.rule, place), ([], {}))
            same.append(found)
            for name in operations:
                times[name] = times.get(name, 0) + (call.times if is_hot else 2)
    for (_, place), (same, times) in by_line.items():
        count = sum(each >= 2 for each in times.values())
        if place is None:
            yield from same[:1] if count else ()
        elif count > 1 and same[0].line is not None:
            worst = max(same, key=lambda each: each.severity.rank)
            message = phrase("{} (and {} more on this line)", worst.message, count - 1)
            yield replace(worst, message=message)
        elif count:
            yield from dict.fromkeys(same)


_ONCE = ("type-not-supported", "device-of-gpu-without-soft-placement")


def _varying(call: SessionCall) -> List[Tuple[str, List[Shape]]]:
    """The inputs that came in several shapes, with these."""
    every: List[Shapes] = list(call.shapes)
    found = []
    for place, name in enumerate(call.inputs):
        own = list(dict.fromkeys(each[place] for each in every if place < len(each)))
        if len(own) > 1:
            found.append((name, own))
    return found


def _is_short_batch(call: SessionCall, varying: Sequence[Tuple[str, List[Shape]]]) -> bool:
    """True where elements of a dataset only have a shorter last batch, which is told elsewhere."""
    elements = set(call.inputs[call.fed :])
    return all(
        name in elements and len(own) == 2 and None not in own and own[0][1:] == own[1][1:]  # type: ignore[index]
        for name, own in varying
    )


def _shapes(call: SessionCall, options: Mapping[str, Any], chosen: bool) -> Iterator[Diagnostic]:
    varying = _varying(call)
    if not varying or _is_short_batch(call, varying):
        return
    count = max(len(own) for _, own in varying)
    name, own = max(varying, key=lambda each: len(each[1]))
    shown = [str(list(each)) if each is not None else "?" for each in own[:_SHOWN]]
    if count > len(shown):
        shown.append("...")
    always = options.get("jit_compile") in ("true", True)
    text = (
        '"{}" had {} shapes in runs of the same fetches ({}); jit_compile is true, so each new '
        "shape compiles the graph again"
        if always
        else '"{}" had {} shapes in runs of the same fetches ({}); at the second shape the '
        "graph is compiled again for unknown dimensions, which is slower"
    )
    yield situations.feed_shapes_change.diagnostic(
        phrase(text, name, count, ", ".join(shown)),
        call.place,
        severity=Severity.INFO if count < _FEW or chosen else None,
    )


def _flow(call: SessionCall, options: Mapping[str, Any]) -> Iterator[Diagnostic]:
    if call.flow is None:
        return
    reasons = list(call.flow.reasons)
    static = options.get("jit_compile") in ("true", True) or _has_profiles(options)
    for name, own in [] if static else _varying(call):
        reasons.append(phrase('number of different shapes of "{}": {}', name, len(own)))
    if reasons:
        yield refused(call.flow, reasons)


def _sets(calls: Sequence[SessionCall]) -> Iterator[Diagnostic]:
    groups: Dict[Any, List[SessionCall]] = {}
    for call in calls:
        if call.purpose == TRAINS and call.updates:
            groups.setdefault(call.updates, []).append(call)
    for group in groups.values():
        if len(group) < _FEW:
            continue
        runs = sum(call.times for call in group)
        rises = len(group) >= _MANY_SETS and runs < 2 * len(group)
        lines = list(dict.fromkeys(str(call.place.line) for call in group))
        yield situations.many_fetch_sets.diagnostic(
            phrase(
                "the training operation was run with {} sets of fetches and feeds (lines {}); "
                "each set is a separate graph, which is compiled and kept in memory",
                len(group),
                listed(lines[:_SHOWN]),
            ),
            group[-1].place,
            help=("use one set of fetches for all steps, and ignore unneeded results"),
            severity=Severity.WARNING if rises else None,
        )
