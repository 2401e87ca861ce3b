"""What is wrong with a launch script: the environment of everything that it starts.

Launch scripts of one folder are compared, too: may two of them take one place in a job?  Only what
is certain counts.  Scripts that are alternatives of each other take the same places and are never
run together: they start something else, or each of them starts a whole job.
"""

import os
import re
from bisect import bisect
from dataclasses import replace
from typing import (
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from npu_config import rank_table
from npu_config.core.diagnostics import Diagnostic, Place, Severity
from npu_config.core.message import Message, phrase
from npu_config.core.processes import without_collector
from npu_config.core.settings import UNKNOWN
from npu_config.core.target import ANY_TARGET, Target
from npu_config.launch import _rules as rules
from npu_config.launch.environment import check as environment_check
from npu_config.launch.environment.kinds import TABLE_PATH
from npu_config.launch.environment.process import (
    EnvironmentCheck,
    compare,
    same_in_all,
    taken_twice,
)
from npu_config.launch.environment.variables import CM_NAMES, OF_NPU, TENSORFLOW_2_NAMES, VARIABLES
from npu_config.launch.shell.commands import Launch, frameworks_in, is_elsewhere, processes_of
from npu_config.launch.shell.follow import follow
from npu_config.launch.shell.syntax import ShellScript, parser, place_of, syntax_fault
from npu_config.launch.shell.walk import LARGEST, ScriptRun, is_made_by_script
from npu_config.launch.shell.words import NOT_KNOWN, ShellVariable, State, Value
from npu_config.python_flow.source import ADAPTER, OURS, TENSORFLOW
from npu_config.rank_table.model import AnyRankTable
from npu_config.text.rules import not_checked_here
from npu_config.text.source import load

_MARKS = re.compile(rb"RANK_TABLE_FILE|ASCEND|HCCL_|CM_CHIEF_|Ascend|(?<![A-Za-z])npu")
"""What a launch script for NPUs mentions, beside the variables of :data:`OF_NPU`."""
_NAMES = re.compile(rb"(?<![A-Za-z0-9_])[A-Z]{2,12}_[A-Z0-9_]{2,32}\b")

_OF_NPU = frozenset(name.encode() for name in OF_NPU)

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
    script = ShellScript(text, path)
    found = _line_ends(text, script)
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
        others = [one for one, of in pairs if of in (None, *OURS) and one.kind != "python"]
        said = {(each.rule, each.place) for each in mine}
        values = _values(run, state, others, scripts, target)
        mine += [each for each in values if (each.rule, each.place) not in said]
        if launches and not any(launch.script for launch in launches):
            # whatever is started may be of a framework whose own variable this is
            mine = [each for each in mine if each.name != "old-device-variable"]
        if ADAPTER in frameworks or may_matter(script.data):
            mine += unfollowed(run, script)
        if mine and not _is_of_others(text, frameworks, scripts):
            found.extend(mine)
    return found, tuple(run.launches)


def launches_of(run: ScriptRun, text: str, scripts: Scripts) -> List[Launch]:
    """What a launch script starts that may be for the NPU: none in a job of another framework."""
    frameworks = [scripts.framework(launch) for launch in run.launches]
    if (any(frameworks) and OURS.isdisjoint(frameworks)) or _is_of_others(
        text, frameworks, scripts
    ):
        return []
    pairs = zip(run.launches, frameworks)
    return [one for one, of in pairs if of in (None, *OURS) and one.kind == "python"]


_SETS = (
    re.compile(r"([A-Z](?<![\w${-].)\w{0,40})\+?=(?!=)([^\s\"';&|)]{0,80})", re.ASCII),
    re.compile(r"setenv(?<!\wsetenv)[ \t]{1,8}([A-Z]\w{0,40})[ \t]{0,8}([^\s\"';&|)]{0,80})"),
)
"""A name and its value; a text is looked through faster for what begins with a letter."""
_SAYS = re.compile(r"[ \t]*(?:#|(?:echo|printf|e?grep|sed|awk|logger|log|info|die|usage)\b)")
_HELP = (
    'check this part by hand, or write "export NAME=value"; '
    'the comment "# npu: ignore[NPU784]" silences this note'
)


def unfollowed(run: ScriptRun, script: ShellScript) -> List[Diagnostic]:
    """One note for each line that may set a variable and is not followed."""
    source = script.source
    notes: Dict[Tuple[Optional[str], Optional[int]], Tuple[Place, str]] = {}
    for place, message in run.notes.items():
        notes.setdefault((place.path, place.line), (place, message))
    spans = _merged(run.read_spans)
    begins = [begin for begin, _ in spans]
    left = [
        mention
        for sets in _SETS
        for mention in sets.finditer(source)
        if mention.group(1) in VARIABLES
        and not _is_inside(mention.start(), spans, begins)
        and not _is_passed(run, mention)
        and not _SAYS.match(source, source.rfind("\n", 0, mention.start()) + 1)
    ]
    comments = _merged(script.comments()) if left else []
    begins = [begin for begin, _ in comments]
    for mention in left:
        if not _is_inside(mention.start(), comments, begins):
            place = script.place(*mention.span())
            message = phrase(
                "{} is set here in a way that this check cannot follow", mention.group(1)
            )
            notes.setdefault((place.path, place.line), (place, message))
    return [
        not_checked_here.diagnostic(message, place, help=_HELP)
        for _, (place, message) in sorted(notes.items(), key=lambda each: str(each[0]))
    ]


def _is_passed(run: ScriptRun, mention: "re.Match[str]") -> bool:
    """Whether the words of a command, or a text that was followed, gave a variable its value."""
    values, value = run.passed.get(mention.group(1), set()), mention.group(2)
    return value in values or (bool(values) and _NOT_PLAIN.search(value) is not None)


_NOT_PLAIN = re.compile(r"[$`\\{},]")


def _merged(spans: Iterable[Tuple[int, int]]) -> List[Tuple[int, int]]:
    """The same parts, in order and without one inside of another."""
    merged: List[Tuple[int, int]] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged


def _is_of_others(text: str, frameworks: Iterable[Optional[str]], scripts: Scripts) -> bool:
    """Whether a script shows only other frameworks where what it starts shows none."""
    shown = set() if any(frameworks) else scripts.mentioned(text)
    return bool(shown) and OURS.isdisjoint(shown)


def _is_npu_job(launch: Launch, framework: Optional[str]) -> bool:
    """Whether what is started runs on NPUs: its script says so, or its environment."""
    return framework == ADAPTER or (
        framework == TENSORFLOW and not VARIABLES.keys().isdisjoint(launch.variables)
    )


def _line_ends(text: str, script: ShellScript) -> List[Diagnostic]:
    """Bash takes the ``\\r`` of ``\\r\\n`` as a part of the last word of the line.

    Inside of quotes and here-documents it is a part of the text, and does not matter in comments.
    """
    starts = [each.end() - 2 for each in _WINDOWS.finditer(text)] if "\r\n" in text else []
    if not starts:
        return []
    inside = [each for each in script.texts() if each[0] or not text.startswith("#!")]
    begins = [begin for begin, _ in inside]
    first = next((at for at in starts if not _is_inside(at, inside, begins)), None)
    if first is None:
        return []
    count = text.count("\r\n")
    line = text.count("\n", 0, first) + 1
    message = phrase(
        "{} of {} lines end with \\r\\n, and bash takes the \\r as a part of the last word",
        count,
        text.count("\n"),
    )
    place = Place(script.path, line, 1)
    return [
        rules.script_line_ends.diagnostic(
            message, place, help="convert the file, e.g. with dos2unix"
        )
    ]


def _is_inside(at: int, spans: Sequence[Tuple[int, int]], begins: Sequence[int]) -> bool:
    """Whether one of the spans, which are in order, holds a position."""
    number = bisect(begins, at)
    return number > 0 and at < spans[number - 1][1]


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
        if launch.kind in ("python", "program") or processes_of(launch.arguments) == "1":
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

    def given(self, written: ShellVariable) -> Tuple[Optional[AnyRankTable], List[Diagnostic]]:
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
            return None, "is not a valid path"
        parsed = rank_table.load(full, self._target)
        count = sum(1 for each in parsed.diagnostics if each.severity is Severity.ERROR)
        if count:  # a table with a comment has a model, and HCCL refuses it
            return parsed.model, phrase(
                "is not a legal rank table ({} error; run npu-config check on it)"
                if count == 1
                else "is not a legal rank table ({} errors; run npu-config check on it)",
                count,
            )
        return parsed.model, None


def _moved(found: Diagnostic, start: Place) -> Diagnostic:
    """A finding in a text that begins at a place of a script."""
    lines, columns = (start.line or 1) - 1, (start.column or 1) - 1
    return replace(
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
    run: ScriptRun,
    state: State,
    launches: List[Launch],
    scripts: Scripts,
    target: Target,
    tables: _Tables,
) -> List[Diagnostic]:
    """The findings about what each process gets, or about what a file of exports leaves."""
    end = _end(state)
    found: List[Diagnostic] = []
    ranked: List[Ranked] = []
    jobs: Dict[int, Dict[int, Launch]] = {}
    names = set().union(*[launch.variables for launch in (*launches, end)])
    ours = frozenset(name for name in names if _matters(name))
    used: FrozenSet[str] = frozenset()
    strange = ours - VARIABLES.keys()
    if strange or "DEVICE_ID" in ours:
        used = frozenset(_USED.findall(run.script.source)).union(
            name for name in strange if any(scripts.names(each, name) for each in launches)
        )
    used |= environment_check.of_other_jobs(ours)
    if any(each.kind != "program" for each in run.launches):
        judged, places = _given(end, ours)
        found.extend(environment_check.misspelt(judged, target, places, end.unset, used))
    else:
        launches = [end]
    done: Set[Tuple[object, ...]] = set()
    for launch in launches:
        if launch.process is not None:
            loop, number = launch.process
            jobs.setdefault(loop, {}).setdefault(number, launch)
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
        elif isinstance(named, str) and TABLE_PATH.problem_of(named) is None:
            table, problem = tables.get(named, run.script.path)
        if problem is not None and not (problem == _MISSING and launch.made):
            message = phrase('RANK_TABLE_FILE="{}" {}', named, phrase(problem))
            place = place_of(launch.variables["RANK_TABLE_FILE"].spot)
            found.append(rules.rank_table_path.diagnostic(message, place))
        judged, places = _given(launch, ours)
        look = environment_check.examine(judged, target, table, places, launch.unset, used)
        ranked.extend((look.whole("RANK_ID"), each) for each in look.found)
        done.add(what if before == (len(found), len(ranked)) else where)
    for launch in launches:
        if launch.doubtful:
            found.extend(_of_some_paths(launch, ours, target, used))
        if launch.copies > 1:
            found.extend(_of_copies(launch))
    for loop, started in jobs.items():
        for job in [_by_number(started)] if loop > 0 else _jobs_of(started.values()):
            if len(job) < 2:
                continue
            looks = {
                name: EnvironmentCheck(values, target, None, places, launch.unset, used)
                for name, launch in _by_rank(job).items()
                for values, places in [_given(launch, ours)]
            }
            compare(
                looks, one_server=True, alike=_alike_but_rank(run, list(job.values()), scripts)
            )
            found.extend(diagnostic for look in looks.values() for diagnostic in look.found)
    found.extend(_grouped(ranked))
    return list({(one.rule, one.place, one.message): one for one in reversed(found)}.values())


def _of_copies(launch: Launch) -> Iterator[Diagnostic]:
    """A rank that every process has which a starter such as ``srun`` starts."""
    given = [launch.variables.get(name, NOT_KNOWN) for name in ("RANK_ID", "RANK_SIZE")]
    rank, size = (str(each.value) if each.certain else "" for each in given)
    if _is_count(rank) and _is_count(size) and int(size) > 1:
        yield same_in_all("RANK_ID", rank, place_of(given[0].spot), launch.copies)


def _by_rank(job: Dict[str, Launch]) -> Dict[str, Launch]:
    """The processes of a job by their ranks, where these are known and tell them apart."""
    ranks = [launch.variables.get("RANK_ID", NOT_KNOWN).value for launch in job.values()]
    if UNKNOWN in ranks or len(set(ranks)) < len(ranks):
        return job
    return {phrase("rank {}", rank): launch for rank, launch in zip(ranks, job.values())}


def _jobs_of(started: Iterable[Launch]) -> Iterator[Dict[str, Launch]]:
    """Of the processes that lines of a script start beside each other those of one job."""
    jobs: Dict[Tuple[object, ...], List[Launch]] = {}
    for launch in started:
        values = [launch.variables.get(name, NOT_KNOWN).value for name in _OF_A_JOB]
        size = values[0]
        is_rank = isinstance(size, str) and _is_count(size) and int(size) > 1
        if launch.script is not None and is_rank:
            job = launch.script, *_alike(launch.arguments), *values
            jobs.setdefault(job, []).append(launch)
    for launches in jobs.values():
        if len(launches) < 2:
            continue
        here = [launch for launch in launches if not is_elsewhere(launch.text)]
        lines = {launch.place.line: launch for launch in here}
        if len(lines) == len(here):
            yield {phrase("line {}", line): launch for line, launch in lines.items()}
        else:
            yield _by_number(dict(enumerate(here)))


def _by_number(started: Dict[int, Launch]) -> Dict[str, Launch]:
    return {phrase("process {}", number): launch for number, launch in started.items()}


_OF_A_JOB = ("RANK_SIZE", "RANK_TABLE_FILE", "JOB_ID")

_CHOOSE_DEVICE = ("session_device_id", "ASCEND_DEVICE_ID")
"""What a training script names that chooses its device itself."""


def _alike_but_rank(run: ScriptRun, job: Sequence[Launch], scripts: Scripts) -> bool:
    """Whether processes of this server certainly differ in nothing but ``RANK_ID``.

    A word of the command or another variable may choose the device, as the script itself may;
    on another machine, and in a container, each has a device 0 of its own.
    """
    first = job[0]
    return all(
        one.spot is not None
        and one.spot[0] is run.script
        and not is_elsewhere(one.text)
        and UNKNOWN not in one.arguments
        and (one.script, one.arguments) == (first.script, first.arguments)
        and one.variables.keys() == first.variables.keys()
        and all(
            name == "RANK_ID" or each is other or UNKNOWN is not each.value == other.value
            for name, each in one.variables.items()
            for other in [first.variables[name]]
        )
        and not any(scripts.names(one, name) for name in _CHOOSE_DEVICE)
        for one in job
    )


def _end(state: State) -> Launch:
    """What a script leaves at its end to whoever reads it."""
    unset = frozenset(state.shell.unset)
    return Launch("", None, (), None, state.exported, unset, doubtful=state.doubtful)


_JUDGED = VARIABLES.keys() - TENSORFLOW_2_NAMES


def _values(
    run: ScriptRun, state: State, launches: Sequence[Launch], scripts: Scripts, target: Target
) -> Iterator[Diagnostic]:
    """What is wrong with each value for itself, where something else may say the rest.

    So it is with what a starter such as ``mpirun`` gives its processes, and with programs of
    which nothing is known.
    """
    done: Set[Tuple[str, Value, Place]] = set()
    for launch in (*launches, _end(state)):
        ours = {name: one for name, one in launch.variables.items() if name in _JUDGED}
        for name, one in ours.items():
            value = (name, one.value, place_of(one.spot))
            if one.value is UNKNOWN or value in done:
                continue
            done.add(value)
            given, places = _given(launch, frozenset(ours))
            look = EnvironmentCheck(given, target, None, places, launch.unset)
            environment_check.check_value(look, name)
            yield from look.found
        if launch.doubtful:
            yield from _of_some_paths(launch, frozenset(ours), target, frozenset())


def _of_some_paths(
    launch: Launch, names: FrozenSet[str], target: Target, used: FrozenSet[str]
) -> Iterator[Diagnostic]:
    """What is wrong with values that variables have on some of the paths to a command."""
    given, _ = _given(launch, names)
    for name in VARIABLES.keys() & launch.doubtful.keys():
        for value, spot in launch.doubtful[name].maybe:
            places = {name: place_of(spot)}
            look = EnvironmentCheck(
                {**given, name: value}, target, None, places, launch.unset, used
            )
            environment_check.check_value(look, name)
            yield from look.found


class _Places(Mapping[str, Place]):
    """Where variables are set; a place is made when it is asked for."""

    def __init__(self, variables: Dict[str, ShellVariable]) -> None:
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
            "{} (the same for rank {})" if len(ranks) == 2 else "{} (the same for ranks {})",
            first.message,
            others,
        )
        yield replace(first, message=message)


def _fault(rank: Optional[int], found: Diagnostic) -> Optional[Tuple[object, ...]]:
    """What a finding that begins with the rank says beside it; None for any other."""
    message = found.message
    if not isinstance(message, Message) or message.arguments[:1] != (rank,):
        return None
    return (found.rule, message.template, *message.arguments[1:])


def _matters(name: str) -> bool:
    """Variables of programs in general are not judged for their likeness to ours."""
    return name in VARIABLES or (name.isupper() and environment_check.concerns(name))


def why_unchecked(text: str) -> Optional[str]:
    """Why a launch script is not checked, in a few words; None: it is."""
    if _OTHER_SHELL.match(text) is not None:
        return "written for a shell other than bash"
    return "the parser of launch scripts is not installed" if parser() is None else None


def may_matter(data: bytes) -> bool:
    """Whether a shell script is about NPUs, by what it mentions."""
    return _MARKS.search(data) is not None or not _OF_NPU.isdisjoint(_NAMES.findall(data))


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
    script = ShellScript(text, path)
    if syntax_fault(script) is not None:
        return Claims(path)
    run, _ = follow(script, near_file)
    found: Dict[Tuple[str, ...], Dict[str, List[Claim]]] = {}
    for launch in launches_of(run, text, scripts):
        claim = _claim(run, launch, path)
        if claim is not None:
            found.setdefault(claim.job, {}).setdefault(claim.text, []).append(claim)
    return Claims(
        path,
        tuple(
            claim
            for job, places in found.items()
            if len(places) < int(job[-1])
            for claims in places.values()
            for claim in claims
        ),
        frozenset(os.path.basename(name) for name, _ in run.scripts),
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


def _claim(run: ScriptRun, launch: Launch, path: str) -> Optional[Claim]:
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
        if launch.table is not None or is_made_by_script(run, table):
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
