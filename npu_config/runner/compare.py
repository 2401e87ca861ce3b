"""What the ranks of a job did differently, by what each of them says that it did."""

from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.message import listed, phrase
from npu_config.situations import ranks as situations

Did = Mapping[str, Any]
Found = Tuple[Diagnostic, List[int]]


def differences(reports: Sequence[Optional[Mapping[str, Any]]]) -> Iterator[Found]:
    """Every difference that matters, with the ranks that it is of.

    Args:
        reports: the report of each rank, in order; None for one that came to write none.
    """
    found = {
        rank: (report["did"], report)
        for rank, report in enumerate(reports)
        if report is not None and report.get("did")
    }
    if len(found) < 2:
        return
    yield from _runs(found)
    yield from _values(found)
    yield from _alone(found)


def _runs(found: Mapping[int, Tuple[Did, Mapping[str, Any]]]) -> Iterator[Found]:
    """The first run in which a rank differs from the first one."""
    (first, (one, report)), *others = found.items()
    for rank, (other, its_report) in others:
        ended = [_is_well(report), _is_well(its_report)]
        difference = _first_difference(one, other, ended)
        if difference is None:
            continue
        mine, theirs = difference
        if mine is None or theirs is None:
            call, who = (mine, first) if theirs is None else (theirs, rank)
            assert call is not None
            text = "rank {} makes a run with a collective that rank {} does not make, and waits"
            message = phrase(text, who, rank if who == first else first)
            yield _at(situations.graph_differs_by_rank, message, call["line"]), [who]
        elif mine["summary"] != theirs["summary"]:
            call, who = (mine, first) if mine["summary"] else (theirs, rank)
            message = phrase(
                "summaries are in the training run of rank {}, and not in that of rank {}",
                who,
                rank if who == first else first,
            )
            yield _at(situations.summary_run_on_one_rank, message, call["line"]), [who]
        else:
            yield _differing(first, rank, one, other, mine, theirs)
        return


def _differing(first: int, rank: int, one: Did, other: Did, mine: Any, theirs: Any) -> Found:
    lines = {
        line
        for line in {**mine["prints"], **theirs["prints"]}
        if mine["prints"].get(line) != theirs["prints"].get(line)
    }
    made = [line for line in lines if one["made"].get(line) != other["made"].get(line)]
    only = [line for line in made if (line in one["made"]) != (line in other["made"])]
    if made:
        line = min(only or made, key=_key)
        text = "this line makes other operators on rank {} than on rank {}, for a run of all ranks"
    elif mine["operations"] == theirs["operations"] and [*mine["prints"]] == [*theirs["prints"]]:
        line = next(each for each in mine["prints"] if each in lines)
        text = "this line makes operators of other shapes on rank {} than on rank {}"
    else:
        line = mine["line"] if len(mine["prints"]) >= len(theirs["prints"]) else theirs["line"]
        text = "ranks {} and {} run other operators here: they have other fetches"
    message = phrase(text, first, rank)
    return _at(situations.graph_differs_by_rank, message, line), [first, rank]


def _is_well(report: Mapping[str, Any]) -> bool:
    return report.get("ended") == "finished" and not report.get("exit_code")


def _first_difference(one: Did, other: Did, ended: Sequence[bool]) -> Any:
    """The two runs that differ first; None for a rank that has ended; None for no difference."""
    left, right = _expanded(one), _expanded(other)
    while True:
        mine, theirs = next(left, None), next(right, None)
        if mine is None or theirs is None:
            rest = [each for each in (mine, theirs) if each is not None]
            # a rank that was ended from outside might have come to it
            may_come = not ended[0 if mine is None else 1]
            if not rest or may_come or not rest[0]["collective"]:
                return None
            return mine, theirs
        if _total(mine) != _total(theirs):
            return mine, theirs


def _total(call: Any) -> Any:
    return call["prints"], call["summary"]


def _expanded(did: Did) -> Iterator[Any]:
    calls = did["calls"]
    for number, times in did["order"]:
        for _ in range(times):
            yield calls[number]


def _values(found: Mapping[int, Tuple[Did, Mapping[str, Any]]]) -> Iterator[Found]:
    """Variables that start differently."""
    dids = [did for did, _ in found.values()]
    names = set.intersection(*(set(did["values"]) for did in dids))
    differing = sorted(n for n in names if len({did["values"][n][0] for did in dids}) > 1)
    first = dids[0]
    call = next((each for each in first["calls"] if each["trains"]), None)
    if call is None or not differing:
        return
    every = list(found)
    trained = [name for name in differing if first["values"][name][1]]
    if trained and call["collective"]:
        text = (
            "the ranks train together from different first values ({}): what was broadcast before "
            "the first training run was not assigned to these variables"
            if first["after_broadcast"]
            else "the ranks train together from different first values ({}): nothing was "
            "broadcast before the first training run"
        )
        message = phrase(text, listed(trained[:3]))
        line = first["wrapped"] or call["line"]
        yield _at(situations.variables_not_broadcast, message, line), every
    if not first["after_broadcast"]:
        return
    for name in differing:
        _, is_trained, line, is_integer = first["values"][name]
        if not is_trained and not is_integer:
            message = phrase(
                'the variable "{}", which is not trained, starts with other values on each rank',
                name,
            )
            yield _at(situations.untrained_variables_differ_by_rank, message, line), every


def _alone(found: Mapping[int, Tuple[Did, Mapping[str, Any]]]) -> Iterator[Found]:
    """Training runs whose gradients are averaged on no rank."""
    lines: List[Dict[str, Any]] = []
    for did, _ in found.values():
        ran = {number for number, _ in did["order"]}
        alone = (did["calls"][each]["alone"] for each in sorted(ran))
        lines.append({line: None for line in alone if line})
    for line in lines[0]:
        if all(line in each for each in lines):
            message = phrase(
                "the ranks update the weights here with gradients that are never averaged: each "
                "trains by itself"
            )
            yield _at(situations.ranks_train_independently, message, line), list(found)


def _key(line: str) -> Tuple[str, int]:
    path, _, number = line.rpartition(":")
    return path, int(number) if number.isdecimal() else 0


def _at(rule: Any, message: str, line: str) -> Diagnostic:
    path, number = _key(line)
    place = Place(path, number) if number else Place()
    diagnostic: Diagnostic = rule.diagnostic(message, place)
    return diagnostic
