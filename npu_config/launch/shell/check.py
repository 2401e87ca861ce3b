"""What is wrong with a launch script: the environment of everything that it starts."""

import os
import re
from typing import (
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Set,
    Tuple,
)

import attr

from npu_config import rank_table
from npu_config.core.collector import without_collector
from npu_config.core.diagnostics import Diagnostic, Place, Severity
from npu_config.core.frameworks import ADAPTER, OURS, TENSORFLOW
from npu_config.core.message import Message, phrase
from npu_config.core.settings import UNKNOWN
from npu_config.core.target import ANY_TARGET, Target
from npu_config.launch.environment import check as environment_check
from npu_config.launch.environment.kinds import TABLE_PATH, problem_of
from npu_config.launch.environment.placement import compare
from npu_config.launch.environment.state import EnvironmentCheck
from npu_config.launch.environment.variables import VARIABLES
from npu_config.launch.shell import _rules as rules
from npu_config.launch.shell.commands import Launch, frameworks_in, processes_of
from npu_config.launch.shell.faults import syntax_fault
from npu_config.launch.shell.follow import LARGEST, Run, follow
from npu_config.launch.shell.syntax import Script, parser, place_of
from npu_config.launch.shell.words import NOT_KNOWN, State, Value, Variable
from npu_config.rank_table.model import AnyRankTable
from npu_config.text.loading import load

MARKS = re.compile(
    rb"RANK_TABLE_FILE|ASCEND|HCCL_|CM_CHIEF_|Ascend|npu|export[ \t]{1,8}RANK_(?:ID|SIZE)\b"
)
"""What a launch script for NPUs mentions."""

_OTHER_SHELL = re.compile(r"#![^\n]*\b(t?csh|zsh|fish|python[0-9.]*|perl|ruby|node)\b")
_WINDOWS = re.compile(r"^(?![ \t]*#(?!!))[^\n]*\r\n", re.MULTILINE)
"""A line that bash reads otherwise than it looks; in a comment it does not matter."""
_MOST_NAMED = 16
_MISSING = "does not exist"
_USED = re.compile(r"\$\{?([A-Za-z_]\w*)", re.ASCII)


class Scripts:
    """What is known of the scripts that are started: here, what their starters tell."""

    def framework(self, launch: Launch) -> Optional[str]:
        """The framework of what is started; None where that is not known."""
        return launch.framework

    def mentioned(self, text: str) -> Set[str]:
        """The frameworks that a launch script shows beside what it certainly starts."""
        return frameworks_in(text)

    def names(self, launch: Launch, variable: str) -> bool:
        """Whether what is started names a variable, and so may read it."""
        return False


@without_collector()
def check_script(
    text: str,
    path: Optional[str],
    target: Target = ANY_TARGET,
    on_host: bool = False,
    scripts: Optional[Scripts] = None,
) -> Tuple[List[Diagnostic], Tuple[Launch, ...]]:
    """Everything that is wrong with a launch script, and what it starts.

    A job of another framework is not judged: its processes read other variables.

    Args:
        text: the script; ``\\r\\n`` is taken as bash would not, but as its author meant it.
        path: its file; sourced files and the rank table are looked for beside it.
        target: the product narrows what is said.
        on_host: this is the training host: files that are named must be there.
        scripts: what is known of the scripts that are started.
    """
    other = _OTHER_SHELL.match(text)
    if other is not None:
        message = phrase(
            "this is a script for {}, not for bash; it is not checked", other.group(1)
        )
        return [
            rules.script_of_other_shell.diagnostic(
                message, Place(path, 1, 1, 1, len(other.group()) + 1)
            )
        ], ()
    if parser() is None:
        message = "shell scripts are not checked: their parser is not installed"
        help = 'pip install "npu_config[cli]"'
        return [rules.shell_parser_missing.diagnostic(message, Place(path), help=help)], ()
    script = Script(text, path)
    found = _line_ends(text, path)
    fault = syntax_fault(script)
    if fault is not None:
        return [*found, fault], ()
    run, state = follow(script, near_file)
    found.extend(run.faults.values())
    scripts = scripts or Scripts()
    frameworks = [scripts.framework(launch) for launch in run.launches]
    if set(frameworks) <= {None} or not OURS.isdisjoint(frameworks):
        pairs = list(zip(run.launches, frameworks))
        mine = _starters([one for one, of in pairs if _is_npu_job(one, of)], state)
        launches = [one for one, of in pairs if of in (None, *OURS) and one.kind == "python"]
        tables = _Tables(target, on_host)
        mine += _environments(run, state, launches, scripts, target, tables)
        if mine and not _is_of_others(text, frameworks, scripts):
            found.extend(mine)
    return found, tuple(run.launches)


def launches_of(run: Run, text: str, scripts: Scripts) -> List[Launch]:
    """What a launch script starts that may be for the NPU: none in a job of another framework."""
    frameworks = [scripts.framework(launch) for launch in run.launches]
    if (any(frameworks) and OURS.isdisjoint(frameworks)) or _is_of_others(
        text, frameworks, scripts
    ):
        return []
    pairs = zip(run.launches, frameworks)
    return [one for one, of in pairs if of in (None, *OURS) and one.kind == "python"]


def _is_of_others(text: str, frameworks: Iterable[Optional[str]], scripts: Scripts) -> bool:
    """Whether a script shows only other frameworks where what it starts shows none."""
    shown = set() if any(frameworks) else scripts.mentioned(text)
    return bool(shown) and OURS.isdisjoint(shown)


def _is_npu_job(launch: Launch, framework: Optional[str]) -> bool:
    """Whether what is started runs on NPUs: its script says so, or its environment."""
    return framework == ADAPTER or (
        framework == TENSORFLOW and not VARIABLES.keys().isdisjoint(launch.variables)
    )


def _line_ends(text: str, path: Optional[str]) -> List[Diagnostic]:
    """Bash takes the ``\\r`` of ``\\r\\n`` as a part of the last word of the line."""
    first = _WINDOWS.search(text)
    if first is None:
        return []
    count = text.count("\r\n")
    line = text.count("\n", 0, first.start()) + 1
    message = phrase(
        "{} of {} lines end with \\r\\n, and bash takes the \\r as a part of the last word",
        count,
        text.count("\n"),
    )
    place = Place(path, line, 1)
    return [
        rules.script_line_ends.diagnostic(
            message, place, help="convert the file, e.g. with dos2unix"
        )
    ]


def near_file(path: str) -> Optional[str]:
    """The text of a file that a script names, when it can be had."""
    try:
        data = load(path, LARGEST) if os.path.isfile(path) else b"\0"
    except ValueError:  # a NUL in the path
        return None
    if not isinstance(data, bytes) or b"\0" in data:
        return None
    return data.decode("utf-8", "replace")


def _starters(launches: Iterable[Launch], state: State) -> List[Diagnostic]:
    found = []
    for launch in launches:
        if launch.kind == "python" or processes_of(launch.arguments) == "1":
            continue
        quiet = launch.kind in ("mpirun", "mpiexec") and "RANK_TABLE_FILE" in state.variables
        found.append(
            rules.starter_of_other_framework.diagnostic(
                phrase(
                    "{} sets neither RANK_ID nor ASCEND_DEVICE_ID, which npu_bridge reads",
                    launch.kind,
                ),
                launch.place,
                None,
                "write a rank table with `npu-config ranktable build`, then a launcher with "
                "`npu-config env --rank-table FILE --job-id NAME --to launcher`",
                Severity.INFO if quiet else None,
            )
        )
    return found


class _Tables:
    """The rank tables that scripts name, each read once."""

    def __init__(self, target: Target, on_host: bool) -> None:
        self._target = target
        self._on_host = on_host
        self._read: Dict[str, Tuple[Optional[AnyRankTable], Optional[str]]] = {}

    def get(
        self, path: str, beside: Optional[str]
    ) -> Tuple[Optional[AnyRankTable], Optional[str]]:
        """The table at a path, and what is wrong with the path."""
        full = path if os.path.isabs(path) or beside is None else _existing(path, beside)
        if full not in self._read:
            self._read[full] = self._load(full, path)
        return self._read[full]

    def given(self, written: Variable) -> Tuple[Optional[AnyRankTable], List[Diagnostic]]:
        """The table that the script itself writes, and what is wrong with it, at its place."""
        if written.value is UNKNOWN:
            return None, []
        place = place_of(written.spot)
        parsed = rank_table.parse(written.value, place.path, self._target)
        return parsed.model, [_moved(each, place) for each in parsed.diagnostics]

    def _load(self, full: str, path: str) -> Tuple[Optional[AnyRankTable], Optional[str]]:
        try:
            if os.path.isdir(full):
                return None, "is a directory"
            if not os.path.isfile(full):
                return None, _MISSING if self._on_host else None
        except ValueError:
            return None, "is not a path"
        parsed = rank_table.load(full, self._target)
        count = sum(1 for each in parsed.diagnostics if each.severity is Severity.ERROR)
        if count:  # a table with a comment has a model, and HCCL refuses it
            return parsed.model, phrase(
                "is not a legal rank table ({} error; check it by itself)"
                if count == 1
                else "is not a legal rank table ({} errors; check it by itself)",
                count,
            )
        return parsed.model, None


def _moved(found: Diagnostic, start: Place) -> Diagnostic:
    """A finding in a text that begins at a place of a script."""
    lines, columns = (start.line or 1) - 1, (start.column or 1) - 1
    return attr.evolve(
        found,
        line=found.line and found.line + lines,
        column=found.column and found.column + columns * (found.line == 1),
        end_line=found.end_line and found.end_line + lines,
        end_column=found.end_column and found.end_column + columns * (found.end_line == 1),
        fix=None,
    )


def _existing(path: str, beside: str) -> str:
    """A relative path: from the folder of the script, or from where we are."""
    near = os.path.join(os.path.dirname(beside), path)
    return near if os.path.exists(near) else path


def _environments(
    run: Run,
    state: State,
    launches: List[Launch],
    scripts: Scripts,
    target: Target,
    tables: _Tables,
) -> List[Diagnostic]:
    """The findings about what each process gets, or about what a file of exports leaves."""
    end = Launch("", None, (), None, state.exported, frozenset(state.shell.unset))
    found: List[Diagnostic] = []
    ranked: List[Ranked] = []
    jobs: Dict[int, Dict[str, Launch]] = {}
    names = set().union(*[launch.variables for launch in (*launches, end)])
    ours = frozenset(name for name in names if _matters(name))
    used: FrozenSet[str] = frozenset()
    strange = ours - VARIABLES.keys()
    if strange or "DEVICE_ID" in ours:
        used = frozenset(_USED.findall(run.script.source)).union(
            name for name in strange if any(scripts.names(each, name) for each in launches)
        )
    used |= environment_check.of_other_jobs(ours)
    if run.launches:
        judged, places = _given(end, ours)
        found.extend(environment_check.misspelt(judged, target, places, end.unset, used))
    else:
        launches = [end]
    done: Set[Tuple[object, ...]] = set()
    for launch in launches:
        if launch.process is not None:
            loop, number = launch.process
            jobs.setdefault(loop, {}).setdefault(phrase("process {}", number), launch)
        variables = [launch.variables.get(name) for name in ours]
        values = tuple([each and each.value for each in variables])
        what = (values, launch.unset, launch.made, launch.table and launch.table.value)
        where = (what, tuple(map(id, variables)))
        if what in done or where in done:
            continue  # nothing is wrong with it, or what was found is found again
        before = len(found), len(ranked)
        table, problem = None, None
        named = launch.variables.get("RANK_TABLE_FILE", NOT_KNOWN).value
        if launch.table is not None:
            table, wrong = tables.given(launch.table)
            found.extend(wrong)
        elif isinstance(named, str) and problem_of(TABLE_PATH, named) is None:
            table, problem = tables.get(named, run.script.path)
        if problem is not None and not (problem == _MISSING and launch.made):
            message = phrase('RANK_TABLE_FILE="{}" {}', named, phrase(problem))
            place = place_of(launch.variables["RANK_TABLE_FILE"].spot)
            found.append(rules.rank_table_path.diagnostic(message, place))
        judged, places = _given(launch, ours)
        look = environment_check.examine(judged, target, table, places, launch.unset, used)
        ranked.extend((look.whole("RANK_ID"), each) for each in look.found)
        done.add(what if before == (len(found), len(ranked)) else where)
    for job in jobs.values():
        if len(job) > 1:
            looks = {
                name: EnvironmentCheck(values, target, None, places, launch.unset, used)
                for name, launch in job.items()
                for values, places in [_given(launch, ours)]
            }
            compare(looks, one_server=True)
            found.extend(diagnostic for look in looks.values() for diagnostic in look.found)
    found.extend(_grouped(ranked))
    return list({(one.rule, one.place, one.message): one for one in reversed(found)}.values())


class _Places(Mapping[str, Place]):
    """Where variables are set; a place is made when it is asked for."""

    def __init__(self, variables: Dict[str, Variable]) -> None:
        self._variables = variables

    def __getitem__(self, name: str) -> Place:
        return place_of(self._variables[name].spot)

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


def _given(launch: Launch, names: FrozenSet[str]) -> Tuple[Dict[str, Value], _Places]:
    """The values of some variables that a command gets, and where they are set."""
    given = {name: one.value for name, one in launch.variables.items() if name in names}
    return given, _Places(launch.variables)


Ranked = Tuple[Optional[int], Diagnostic]


def _grouped(ranked: Iterable[Ranked]) -> Iterator[Diagnostic]:
    """One finding for one place, and for one fault of several ranks; it names the ranks."""
    places: Dict[Tuple[str, Place], Dict[str, Ranked]] = {}
    for rank, one in ranked:
        places.setdefault((one.rule, one.place), {}).setdefault(one.message, (rank, one))
    faults: Dict[Tuple[object, ...], List[Ranked]] = {}
    for place, group in places.items():
        fault = _fault(*next(iter(group.values())))
        faults.setdefault(fault or place, []).extend(group.values())
    for found in faults.values():
        ranks = sorted(rank for rank, _ in found if rank is not None)
        if len(found) == 1 or len(set(ranks)) < len(found):
            yield from (one for _, one in found)
            continue
        first = next(one for rank, one in found if rank == ranks[0])
        others = ", ".join(map(str, ranks[1:_MOST_NAMED])) + (", ..." * (len(ranks) > _MOST_NAMED))
        message = phrase(
            "{} (likewise rank {})" if len(ranks) == 2 else "{} (likewise ranks {})",
            first.message,
            others,
        )
        yield attr.evolve(first, message=message)


def _fault(rank: Optional[int], found: Diagnostic) -> Optional[Tuple[object, ...]]:
    """What a finding that begins with the rank says beside it; None for any other."""
    message = found.message
    if rank is None or not isinstance(message, Message) or message.arguments[:1] != (rank,):
        return None
    return (found.rule, message.template, *message.arguments[1:])


def _matters(name: str) -> bool:
    """Variables of programs in general are not judged for their likeness to ours."""
    return name in VARIABLES or (name.isupper() and environment_check.concerns(name))


def why_unchecked(text: str) -> Optional[str]:
    """Why a launch script is not checked, in a few words; None: it is."""
    if _OTHER_SHELL.match(text) is not None:
        return "for another shell than bash"
    return "the parser of launch scripts is not installed" if parser() is None else None


def may_matter(data: bytes) -> bool:
    """Whether a shell script that nobody named is about NPUs."""
    return MARKS.search(data) is not None
