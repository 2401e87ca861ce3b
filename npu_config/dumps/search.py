"""The search for what makes results wrong: which passes, operators and precision mode to change.

Every suspect has a cure: a fusion pass is switched off, an operator type is kept in float32, and
the precision mode becomes that of the network.  A run with some cures agrees or diverges.  The
search ends with a smallest set of cures that agrees, each of which is needed, and that a run has
confirmed.

What is kept is the history alone: suspects and runs.  The next run follows from it, so a search
that was killed goes on where it was.  It takes for granted that more cures make no result worse.
"""

import contextlib
import json
import re
from typing import Any, Dict, FrozenSet, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.message import phrase
from npu_config.core.paths import PathLike, path_name
from npu_config.dumps._rules import search_unreadable, search_without_result
from npu_config.text.files import write_atomic
from npu_config.text.source import text_of

GRAPH, UB, TYPE, PRECISION = "graph", "ub", "type", "precision"
KINDS = (GRAPH, UB, TYPE, PRECISION)
AGREES, DIVERGES = "agrees", "diverges"
RECORDS = ("overflow", "dump", "base")
KIND = "npu_config.dump_search"
_LARGEST = 1 << 24


class Suspect(NamedTuple):
    """Something that may be at fault.

    Args:
        kind: ``"graph"`` or ``"ub"`` for a fusion pass, ``"type"`` for an operator type that may
            suffer from float16, ``"precision"`` for the precision mode.
        name: of the pass or the type; the mode that cures it.
    """

    kind: str
    name: str


Cures = FrozenSet[Suspect]


@attr.s(frozen=True, slots=True, auto_attribs=True)
class SearchRun:
    """One run of the job.

    Args:
        number: from 1 on.
        cures: what was changed for it.
        verdict: ``"agrees"`` or ``"diverges"``; None while it is not known.
        how: how the verdict came about, in words.
        runs: the runs of the dump that it was judged by.
    """

    number: int
    cures: Cures
    verdict: Optional[str] = None
    how: str = ""
    runs: Tuple[str, ...] = ()


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Search:
    """A search as it is kept.

    Args:
        base: the configuration that it starts from; relative to the file of the state.
        base_hash: of its content and that of its side files.
        suspects: in the order in which they are tried; the precision mode comes last.
        records: ``"overflow"``, ``"dump"`` for a comparison, or ``"base"``: what that says.
        reference: of the comparison.
        runs: in the order in which they were made; the last may have no verdict.
        known: runs of dumps that were there before, or were judged.
        operators: some operators of the network, by which it is known again.
    """

    base: str
    base_hash: str
    suspects: Tuple[Suspect, ...]
    records: str
    reference: Optional[str] = None
    runs: Tuple[SearchRun, ...] = ()
    known: Tuple[str, ...] = ()
    operators: Tuple[str, ...] = ()

    @property
    def pending(self) -> Optional[SearchRun]:
        """The run that waits for its verdict."""
        return self.runs[-1] if self.runs and self.runs[-1].verdict is None else None


FOUND, SEARCHING, NOT_AMONG = "found", "searching", "not found"


class SearchOutcome(NamedTuple):
    """What follows from the runs so far.

    Args:
        state: ``"found"``, ``"searching"`` or ``"not found"``.
        cures: of the next run; when found, the smallest set.
        undecided: the suspects of which it is not known yet.
        runs: when found, the number of the run that confirmed it.
    """

    state: str
    cures: Cures = frozenset()
    undecided: Tuple[Suspect, ...] = ()
    runs: Tuple[int, ...] = ()

    @property
    def left(self) -> int:
        """How many suspects are undecided."""
        return len(self.undecided)


def outcome(search: Search) -> SearchOutcome:
    """What follows from the runs of a search."""
    judged = [run for run in search.runs if run.verdict is not None]
    history = _History(judged, search.suspects)
    try:
        needed = _needed(search.suspects, history)
    except _RunWanted as wanted:
        return SearchOutcome(SEARCHING, wanted.cures, history.left)
    if needed is None:
        return SearchOutcome(NOT_AMONG)
    return SearchOutcome(
        FOUND, needed, (), tuple(run.number for run in judged if run.cures == needed)
    )


class _RunWanted(Exception):  # noqa: N818 - the search goes on
    """No run says whether these cures agree."""

    def __init__(self, cures: Cures) -> None:
        super().__init__()
        self.cures = cures


class _History:
    """The verdicts so far; ``left`` are the suspects that are undecided."""

    def __init__(self, runs: Sequence[SearchRun], left: Tuple[Suspect, ...]) -> None:
        self._runs = runs
        self.left = left

    def agrees(self, cures: Iterable[Suspect], itself: bool = False) -> bool:
        """Whether a run with some cures agrees.

        Args:
            cures: what is changed.
            itself: that fewer cures agree does not do; a run with just these has to.

        Raises:
            _RunWanted: no run says so.
        """
        wanted = frozenset(cures)
        for run in self._runs:
            if run.cures == wanted:
                return run.verdict == AGREES
            if run.verdict == DIVERGES and run.cures >= wanted:
                return False
        if not itself and any(r.verdict == AGREES and r.cures < wanted for r in self._runs):
            return True
        raise _RunWanted(wanted)


def _needed(suspects: Sequence[Suspect], history: _History) -> Optional[Cures]:
    """The smallest set of cures that agrees; None when all of them together do not.

    Cures are taken back from the front.  Bisection finds the first that cannot be: those before
    it are not needed, and the same is done with those behind it.
    """
    left = tuple(each for each in suspects if each.kind != PRECISION)
    if not left or not history.agrees(left):
        if len(left) == len(suspects) or not history.agrees(suspects):
            return None
        left = tuple(suspects)
    needed: Set[Suspect] = set()
    while not history.agrees(needed, itself=True):
        good, bad = 0, len(left)
        while bad - good > 1:
            history.left = left[good:bad]
            middle = (good + bad) // 2
            if history.agrees(needed.union(left[middle:])):
                good = middle
            else:
                bad = middle
        needed.add(left[bad - 1])
        left = left[bad:]
        history.left = left
    return frozenset(needed)


def findings(search: Search, result: SearchOutcome, path: str) -> List[Diagnostic]:
    """What is said of a search that ends without a result."""
    if result.state != NOT_AMONG:
        return []
    message = (
        "the result is wrong even with all {:,} changes: at least one cause is not in the list "
        "of suspects"
    )
    text = phrase(message, len(search.suspects))
    help_ = (
        "compare the inputs of the network first; then start a new search with a different "
        "list of suspects and a new STATE file"
    )
    return [search_without_result.diagnostic(text, Place(path), help=help_)]


def refused(path: str, message: str) -> NpuConfigError:
    """What is said of a state that belongs to something else."""
    help_ = "the runs cannot be compared; pass a new STATE file"
    return search_unreadable.error(message, Place(path), help=help_)


# the file


def plain_cures(cures: Iterable[Suspect]) -> Dict[str, Any]:
    """What is changed, as JSON has it."""
    names = {kind: sorted(each.name for each in cures if each.kind == kind) for kind in KINDS}
    return {
        "off": {"graph": names[GRAPH], "ub": names[UB]},
        "float32": names[TYPE],
        "precision_mode": next(iter(names[PRECISION]), None),
    }


def plain_runs(search: Search) -> List[Dict[str, Any]]:
    """The runs as JSON has them."""
    return [
        {
            "number": run.number,
            "verdict": run.verdict,
            "how": run.how,
            "runs": list(run.runs),
            **plain_cures(run.cures),
        }
        for run in search.runs
    ]


def save_search(search: Search, path: PathLike) -> None:
    """Write the state, all of it or nothing, in place of the one that is there.

    Raises:
        OSError: it cannot be written; the old state is still there.
    """
    content = {
        "version": 1,
        "kind": KIND,
        "base": search.base,
        "base_sha256": search.base_hash,
        "records": search.records,
        "reference": search.reference,
        "suspects": [each._asdict() for each in search.suspects],
        "runs": [
            {**plain, "said": _kept(run.how)}
            for plain, run in zip(plain_runs(search), search.runs)
        ],
        "known_runs": list(search.known),
        "operators": list(search.operators),
    }
    text = json.dumps(content, indent=1, ensure_ascii=True)
    write_atomic(path, text + "\n", overwrite=True)


def load_search(path: PathLike) -> Search:
    """Read a state.

    Raises:
        NpuConfigError: it cannot be read, or is not one.
    """
    name = path_name(path)
    text = text_of(name, _LARGEST)
    try:
        return _search(json.loads(text))
    except (ValueError, RecursionError) as error:
        message = phrase("the file is not JSON: {}", error)
    except (KeyError, TypeError, AttributeError):
        message = "the file is not a STATE file of npu-config dump search"
    except _StateError as error:
        message = error.args[0]
    help_ = "pass another file name to begin a new search"
    raise search_unreadable.error(message, Place(name), help=help_)


class _StateError(Exception):
    """A state contradicts itself; the text says how."""


def _search(content: Any) -> Search:
    if content["kind"] != KIND or content["version"] != 1:
        raise TypeError
    suspects = tuple(Suspect(str(each["kind"]), str(each["name"])) for each in content["suspects"])
    runs = tuple(_run(each, frozenset(suspects)) for each in content["runs"])
    if any(each.kind not in KINDS for each in suspects) or content["records"] not in RECORDS:
        raise TypeError
    if [run.number for run in runs] != list(range(1, len(runs) + 1)):
        raise _StateError("the runs in the state file are not numbered from 1")
    if any(run.verdict is None for run in runs[:-1]):
        raise _StateError(
            "the verdict of a run is missing, and only the last run may be without a verdict"
        )
    reference = content["reference"]
    return Search(
        str(content["base"]),
        str(content["base_sha256"]),
        suspects,
        str(content["records"]),
        None if reference is None else str(reference),
        runs,
        tuple(map(str, content["known_runs"])),
        tuple(map(str, content["operators"])),
    )


def _run(each: Any, suspects: Cures) -> SearchRun:
    named = [
        *(Suspect(GRAPH, name) for name in each["off"]["graph"]),
        *(Suspect(UB, name) for name in each["off"]["ub"]),
        *(Suspect(TYPE, name) for name in each["float32"]),
    ]
    if each["precision_mode"] is not None:
        named.append(Suspect(PRECISION, each["precision_mode"]))
    number, verdict = each["number"], each["verdict"]
    if not set(named) <= suspects:
        raise _StateError(
            phrase(
                ("run {} in the state file contains a change that is not in the list of suspects"),
                number,
            )
        )
    if verdict not in (None, AGREES, DIVERGES):
        raise _StateError(
            phrase('the verdict of run {} is not one of "agrees", "diverges"', number)
        )
    runs = tuple(map(str, each["runs"]))
    how = _said(each.get("said"), str(each["how"]))
    return SearchRun(int(number), frozenset(named), verdict, how, runs)


_WIDE = re.compile(r"\d{4}")
"""A width that would take much memory; no sentence has one."""


def _kept(text: str) -> Any:
    """A sentence with its parts, so that a later call can say it in another language."""
    arguments = getattr(text, "arguments", ())
    if not arguments:
        return text
    return [
        text.template,  # type: ignore[attr-defined]
        *(
            _kept(each) if isinstance(each, str) else each if _is_plain(each) else str(each)
            for each in arguments
        ),
    ]


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (int, float))


def _said(kept: Any, text: str) -> str:
    """The sentence of its parts, where these give the text; else the text."""
    with contextlib.suppress(ValueError, LookupError, AttributeError, TypeError):
        made = _again(kept)
        if isinstance(made, str) and made == text:
            return made
    return text


def _again(kept: Any) -> Any:
    if not isinstance(kept, list):
        return kept
    template, *arguments = kept
    if _WIDE.search(template):
        raise ValueError(template)
    return phrase(template, *map(_again, arguments))
