"""Launch scripts of one folder beside each other: a place in a job that two of them take.

Only what is certain counts.  Scripts that are alternatives of each other take the same places
and are never run together: they start something else, or each of them starts a whole job.
"""

import os
import re
from typing import Dict, FrozenSet, Iterable, Iterator, List, NamedTuple, Optional, Tuple

from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.settings import UNKNOWN
from npu_config.launch.environment.placement import taken_twice
from npu_config.launch.environment.variables import CM_NAMES
from npu_config.launch.shell.check import Scripts, launches_of, near_file
from npu_config.launch.shell.commands import Launch
from npu_config.launch.shell.faults import syntax_fault
from npu_config.launch.shell.follow import Run, follow
from npu_config.launch.shell.syntax import Script, parser, place_of
from npu_config.launch.shell.words import Value

_WORTH = re.compile(r"RANK_TABLE_FILE=|CM_CHIEF_IP=")
_NUMBER = re.compile(r"(--?[\w-]+=)?\d{1,9}\Z", re.ASCII)
_OF_A_PLACE = re.compile(r"rank|device|worker|task|node|server|index", re.IGNORECASE)
"""Parts of the names of arguments that tell the processes of one job apart."""


class Claim(NamedTuple):
    """A place in a job that a script takes for a process.

    ``job`` is what the processes of one job have alike, ``job_id`` None where that is not
    known; ``text`` is what ``variable`` holds, by which they differ; ``device`` is None where
    it is not known, and ``place`` where the script says it.
    """

    job: Tuple[str, ...]
    job_id: Optional[str]
    variable: str
    text: str
    device: Optional[str]
    started: Tuple[Value, ...]
    place: Place


class Claims(NamedTuple):
    """What one script takes, and the other scripts that it runs or reads."""

    path: str
    claims: Tuple[Claim, ...] = ()
    runs: FrozenSet[str] = frozenset()


def claims_of(text: str, path: str, scripts: Scripts) -> Claims:
    """The places in jobs that a launch script certainly takes, where it is not a whole job.

    Args:
        text: the script.
        path: its file.
        scripts: what is known of the scripts that are started.
    """
    if _WORTH.search(text) is None or parser() is None:
        return Claims(path)
    script = Script(text, path)
    if syntax_fault(script) is not None:
        return Claims(path)
    run, _ = follow(script, near_file)
    found: Dict[Tuple[str, ...], Dict[str, List[Claim]]] = {}
    for launch in launches_of(run, text, scripts):
        claim = _claim(run, launch, path)
        if claim is not None:
            found.setdefault(claim.job, {}).setdefault(claim.text, []).append(claim)
    runs = {name for name, _ in run.scripts}
    runs.update(each.script for each in run.launches if each.kind == "shell" and each.script)
    return Claims(
        path,
        tuple(
            claim
            for job, places in found.items()
            if len(places) < int(job[-1])
            for claims in places.values()
            for claim in claims
        ),
        frozenset(map(os.path.basename, runs)),
    )


def conflicts(scripts: Iterable[Claims]) -> List[Diagnostic]:
    """The places in a job that two scripts of one folder take; the later one has the finding."""
    found: List[Diagnostic] = []
    before: Dict[Tuple[str, ...], List[Tuple[Claims, Claim]]] = {}
    for script in scripts:
        folder = os.path.dirname(os.path.abspath(script.path))
        mine = {(folder, *claim.job, claim.text): claim for claim in reversed(script.claims)}
        for key, claim in reversed(list(mine.items())):
            others = before.setdefault(key, [])
            first = next((one for of, one in others if _clash(of, one, script, claim)), None)
            if first is None:
                others.append((script, claim))
            else:
                found.append(_finding(first, claim))
    return found


def _claim(run: Run, launch: Launch, path: str) -> Optional[Claim]:
    """What a process takes; None where it is not certain, or said in another file."""
    known = {
        name: variable.value
        for name, variable in launch.variables.items()
        if isinstance(variable.value, str) and variable.certain
    }
    table, chief = known.get("RANK_TABLE_FILE"), known.get("CM_CHIEF_IP")
    device = known.get("ASCEND_DEVICE_ID")
    job: Tuple[str, ...]
    if table and chief is None:
        variable, job = "RANK_ID", ("RANK_TABLE_FILE", os.path.normpath(table))
        size = known.get("RANK_SIZE")
        if _is_made(run, launch, table):
            return None
    elif chief and table is None and set(CM_NAMES) <= known.keys():
        variable = "ASCEND_DEVICE_ID"
        job = ("CM_CHIEF_IP", *(known[name] for name in sorted(CM_NAMES)))
        size = known["CM_WORKER_SIZE"]
    else:
        return None
    text = known.get(variable, "")
    if not (_is_count(size) and _is_count(text)) or int(size or 0) < 2 or launch.script is None:
        return None
    place = place_of(launch.variables[variable].spot)
    if place.path != path:
        place = launch.place
    if place.path != path:  # another script that this one runs
        return None
    started = (launch.script, *launch.arguments)
    job_id = known.get("JOB_ID")
    return Claim((*job, str(size)), job_id, variable, str(int(text)), device, started, place)


def _is_made(run: Run, launch: Launch, table: str) -> bool:
    """Whether a script may write the rank table itself, or finds it from where it changed to."""
    parts = table.split("/")
    return (
        launch.table is not None
        or parts[-1] in run.written
        or not run.made.isdisjoint(parts)
        or (run.moved and not os.path.isabs(table))
    )


def _is_count(text: Optional[str]) -> bool:
    return text is not None and text.isascii() and text.isdecimal() and len(text) < 10


def _clash(of: Claims, one: Claim, script: Claims, two: Claim) -> bool:
    """Whether two claims are of processes that run together, as far as that can be known."""
    if None not in (one.job_id, two.job_id) and one.job_id != two.job_id:
        return False
    if os.path.basename(of.path) in script.runs or os.path.basename(script.path) in of.runs:
        return False
    return len(one.started) == len(two.started) and all(
        mine == yours if mine is not UNKNOWN and yours is not UNKNOWN else mine is yours
        for mine, yours in zip(_alike(one.started), _alike(two.started))
    )


def _alike(words: Iterable[Value]) -> Iterator[Value]:
    """The words of a command, without the numbers that only tell its process from others."""
    before = ""
    for word in words:
        match = None if word is UNKNOWN else _NUMBER.match(word)
        name = "" if match is None else match.group(1) or before
        yield name if name and _OF_A_PLACE.search(name) else word
        before = word if word is not UNKNOWN and word.startswith("-") else ""


def _finding(first: Claim, claim: Claim) -> Diagnostic:
    apart = None not in (first.device, claim.device) and first.device != claim.device
    where = "{}:{}".format(first.place.path, first.place.line)
    return taken_twice(claim.variable, claim.text, claim.place, where, apart)


__all__ = ["Claim", "Claims", "claims_of", "conflicts"]
