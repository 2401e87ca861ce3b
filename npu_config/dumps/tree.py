"""What is in a folder of dumps: the files by run, device, model and step, and a part of them.

A file is called ``TYPE.NAME.TASK.STREAM.TIME``; old releases leave the stream out, FFTS+ adds
four numbers, statistics add ``.csv``.  ``/``, ``.``, ``\\`` and blanks of the real names are
written ``_`` there.  Only names are looked at while a tree is listed, so one of any size is
listed quickly; :meth:`DumpFile.open` reads one header.

Source: facts dump.yaml, ``paths`` and ``names``.
"""

import fnmatch
import os
import re
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place, Severity
from npu_config.core.message import listed, localized, phrase
from npu_config.core.paths import PathLike, path_name, reading
from npu_config.dumps import _rules as rules
from npu_config.dumps._rules import several_dumps_of_one_operator
from npu_config.dumps.dump import Dump, Opened, open_dump
from npu_config.text.source import unreadable

_FILE = re.compile(
    r"(?P<type>[A-Za-z0-9_-]+)\.(?P<name>[A-Za-z0-9_-]+)\.(?P<task>[0-9]+)"
    r"(?:\.(?P<stream>[0-9]+))?\.(?P<time>[0-9]{10,})"
    r"(?:\.(?P<kind>[0-9]+)\.(?P<context>[0-9]+)\.(?P<thread>[0-9]+)\.(?P<device>[0-9]+))?"
    r"(?P<csv>\.csv)?\Z"
)
_HASH = re.compile(r"[0-9]{1,20}\Z")
_TIME = re.compile(r"[0-9]{14}\Z")
_DIGITS = re.compile(r"[0-9]+\Z")
_REPLACED = re.compile(r"[ ./\\]")
_LONGEST = 1024
MAPPING = "mapping.csv"
OPDEBUG = "Opdebug"
_ACLNN = 65535


class FileName(NamedTuple):
    """What the name of a dump file says; what it does not say is None.

    ``time`` is in microseconds; ``task_type``, ``context`` and ``thread`` are those of FFTS+.
    """

    op_type: str
    name: str
    task: int
    stream: Optional[int]
    time: int
    task_type: Optional[int]
    context: Optional[int]
    thread: Optional[int]
    is_statistics: bool

    @property
    def is_overflow(self) -> bool:
        """True for the record that overflow detection writes beside the operator's dump."""
        return self.op_type == OPDEBUG


class Folder(NamedTuple):
    """Where a file is in a dump; parts that the path does not have are None."""

    run: Optional[str]
    device: Optional[int]
    model: Optional[str]
    model_id: Optional[int]
    step: Optional[int]


def place(where: Folder) -> str:
    """A step, device and so on in the reader's language; what is not known is left out."""
    parts = [
        (phrase("step {}"), where.step),
        (phrase("device {}"), where.device),
        (phrase("model {}"), where.model),
        (phrase("run {}"), where.run),
    ]
    return ", ".join(localized(words, value) for words, value in parts if value is not None)


def run_folder(file: "DumpFile") -> str:
    """The folder of the run of a file; the path of the file where that names no run."""
    name = "{0}{1}{0}".format(os.sep, file.run)
    before, found, _ = os.path.abspath(file.path).rpartition(name)
    return before + found[:-1] or file.path


def parse_name(text: str) -> Optional[FileName]:
    """What a file name says; None when it is not the name of a dump."""
    match = _FILE.match(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    kind, name = match.group("type"), match.group("name")
    task, stream = int(match.group("task")), _number(match.group("stream"))
    if task == stream == _ACLNN:  # single operators of aclnn swap the two
        kind, name = name, kind
    return FileName(
        kind,
        name,
        task,
        stream,
        int(match.group("time")),
        _number(match.group("kind")),
        _number(match.group("context")),
        _number(match.group("thread")),
        match.group("csv") is not None,
    )


def is_hash(text: str) -> bool:
    """True for the name of a file whose own name was too long; ``mapping.csv`` has that."""
    return _HASH.match(text) is not None


def parse_folder(parts: Sequence[str]) -> Folder:
    """What the folders above a file say.

    Args:
        parts: their names, outermost first; those above the dump do not matter.
    """
    last = len(parts) - 1
    for index in range(last, -1, -1):
        if _TIME.match(parts[index]) and index < last and _DIGITS.match(parts[index + 1]):
            below = _model(parts[index + 2 :])
            return Folder(parts[index], int(parts[index + 1]), *below)
    tail = list(parts[-4:])
    numeric = [_DIGITS.match(part) is not None for part in tail]
    if numeric == [True, False, True, True]:
        return Folder(None, int(tail[0]), *_model(tail[1:]))
    if numeric[1:] == [False, True, True]:
        return Folder(None, None, *_model(list(parts[-3:])))
    return Folder(None, None, None, None, None)


def _model(parts: Sequence[str]) -> Tuple[Optional[str], Optional[int], Optional[int]]:
    """Model, model id and step; each is there only when it was known."""
    name = parts[0] if parts and not _DIGITS.match(parts[0]) else None
    numbers = [int(part) for part in parts[1 if name else 0 :] if _DIGITS.match(part)][:2]
    if len(numbers) == 2:
        return name, numbers[0], numbers[1]
    if numbers and name is not None:
        return name, numbers[0], None
    return name, None, numbers[0] if numbers else None


def plain(name: str) -> str:
    """The real name of an operator as file names have it."""
    return _REPLACED.sub("_", name)


def _number(text: Optional[str]) -> Optional[int]:
    return None if text is None else int(text)


_LARGEST_MAPPING = 1 << 28


@attr.s(frozen=True, slots=True, auto_attribs=True)
class DumpFile:
    """One file of a dump.

    Args:
        path: where it is.
        size: in bytes.
        folder: run, device, model and step; what the path does not say is None.
        name: what its name says; for a file named by a hash, what ``mapping.csv`` says.
        hashed: True when the real name was too long, and the file is called by a hash of it.
    """

    path: str
    size: int
    folder: Folder
    name: FileName
    hashed: bool = False

    @property
    def run(self) -> Optional[str]:
        """Start of the process, ``YYYYMMDDHHMMSS``."""
        return self.folder.run

    @property
    def device(self) -> Optional[int]:
        """Number of the device."""
        return self.folder.device

    @property
    def model(self) -> Optional[str]:
        """Name of the graph."""
        return self.folder.model

    @property
    def step(self) -> Optional[int]:
        """The iteration, counted over all runs of the session."""
        return self.folder.step

    @property
    def op_type(self) -> str:
        """The operator type, e.g. ``"Conv2D"``."""
        return self.name.op_type

    @property
    def op_name(self) -> str:
        """The operator as the file name has it, with ``_`` for ``/``."""
        return self.name.name

    @property
    def kind(self) -> str:
        """``"tensor"``, ``"statistics"`` or ``"overflow"``."""
        if self.name.is_statistics:
            return "statistics"
        return "overflow" if self.name.is_overflow else "tensor"

    @property
    def order(self) -> Tuple[str, int, str, int, int, int, str]:
        """The key that sorts files by run, device, model, step and time."""
        where = self.folder
        return (
            where.run or "",
            -1 if where.device is None else where.device,
            where.model or "",
            -1 if where.model_id is None else where.model_id,
            -1 if where.step is None else where.step,
            self.name.time,
            self.path,
        )

    def open(self) -> Opened:
        """The header of the file; see :func:`~npu_config.dumps.dump.open_dump`."""
        return open_dump(self.path)


class Stray(NamedTuple):
    """A file in the tree that is not a dump, with the reason."""

    path: str
    reason: str


class DumpTree(Tuple[DumpFile, ...]):
    """The files of a dump, ordered by run, device, model, step and time.

    Attributes:
        strays: files that are not dumps.
        missing: real names of files that a ``mapping.csv`` has and the folder has not.
        diagnostics: folders that could not be read.
    """

    strays: Tuple[Stray, ...]
    missing: Tuple[str, ...]
    diagnostics: Tuple[Diagnostic, ...]

    def __new__(
        cls,
        files: Iterable[DumpFile],
        strays: Sequence[Stray] = (),
        missing: Sequence[str] = (),
        diagnostics: Sequence[Diagnostic] = (),
    ) -> "DumpTree":
        """Keep what was found; the files may be in any order."""
        self = super().__new__(cls, sorted(files, key=lambda file: file.order))
        self.strays, self.missing = tuple(strays), tuple(missing)
        self.diagnostics = tuple(diagnostics)
        return self

    def __repr__(self) -> str:
        return phrase("<DumpTree: {:,} files>", len(self))

    def _values(self, name: str) -> Tuple[Any, ...]:
        return tuple(sorted({getattr(file, name) for file in self} - {None}))

    @property
    def runs(self) -> Tuple[str, ...]:
        """The runs, oldest first."""
        return self._values("run")

    @property
    def devices(self) -> Tuple[int, ...]:
        """The numbers of the devices."""
        return self._values("device")

    @property
    def models(self) -> Tuple[str, ...]:
        """The names of the graphs."""
        return self._values("model")

    @property
    def steps(self) -> Tuple[int, ...]:
        """The iterations."""
        return self._values("step")

    def only(self, files: Sequence[DumpFile]) -> "DumpTree":
        """The same tree with some of its files."""
        return DumpTree(files, self.strays, self.missing, self.diagnostics)


def find_dumps(path: PathLike) -> DumpTree:
    """Find the dump files below a folder.

    Args:
        path: the ``dump_path``, any folder in it, or one file.

    Returns:
        The files by name; no header is read.

    Raises:
        NpuConfigError: the path cannot be read.
    """
    root = path_name(path)
    files: List[DumpFile] = []
    strays: List[Stray] = []
    missing: List[str] = []
    found: List[Diagnostic] = []
    if not os.path.isdir(root):
        try:
            size = os.stat(root).st_size
        except (OSError, ValueError) as error:
            raise NpuConfigError([unreadable(root, error)]) from None
        folder, name = os.path.split(os.path.abspath(root))
        entries = [(name, root, size)]
        _enter(folder, entries, files, strays, [])
        return DumpTree(files, strays)
    pending = [root]
    while pending:
        folder = pending.pop()
        entries = []
        try:
            with os.scandir(folder) as listed:
                for entry in listed:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    elif entry.is_dir():
                        strays.append(Stray(entry.path, "a link to a folder; not followed"))
                    elif entry.is_file():
                        entries.append((entry.name, entry.path, _size(entry)))
                    elif entry.is_symlink() and parse_name(entry.name) is not None:
                        found += _unreadable_link(entry.path)
        except OSError as error:
            found.append(unreadable(folder, error))
            continue
        _enter(os.path.abspath(folder), entries, files, strays, missing)
    if found and not files and not strays:
        raise NpuConfigError(found)
    return DumpTree(files, strays, missing, found)


def _unreadable_link(path: str) -> List[Diagnostic]:
    """What is said of a link to a file that is not there."""
    try:
        os.stat(path)
    except OSError as error:
        return [unreadable(path, error)]
    return []


def _size(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat().st_size
    except OSError:
        return 0


def _enter(
    folder: str,
    entries: List[Tuple[str, str, int]],
    files: List[DumpFile],
    strays: List[Stray],
    missing: List[str],
) -> None:
    """Sort the files of one folder."""
    where = parse_folder(folder.split(os.sep))
    names = {name: path for name, path, _ in entries}
    mapped: Dict[str, str] = {}
    mapping = names.get(MAPPING, os.path.join(folder, MAPPING))
    if MAPPING in names or (len(entries) == 1 and is_hash(entries[0][0])):
        mapped = _mapping(mapping)
    for name, path, size in entries:
        if name == MAPPING:
            continue
        real = mapped.get(name, name)
        parsed = parse_name(real)
        if parsed is not None:
            files.append(DumpFile(path, size, where, parsed, name in mapped))
        elif is_hash(name):
            strays.append(
                Stray(
                    path, phrase("the name is a hash, and no {} maps this hash to a name", MAPPING)
                )
            )
        else:
            strays.append(Stray(path, "not the name of a dump"))
    missing.extend(
        os.path.join(folder, real)
        for name, real in mapped.items()
        if name not in names and MAPPING in names
    )


def _mapping(path: str) -> Dict[str, str]:
    """Hash to real name, of a ``mapping.csv``; lines that are cut are left out."""
    try:
        with open(path, encoding="utf-8", errors="replace", opener=reading) as stream:
            text = stream.read(_LARGEST_MAPPING)
    except OSError:
        return {}
    pairs = (line.partition(",") for line in text.splitlines())
    return {name.strip(): real.strip() for name, comma, real in pairs if comma and real.strip()}


def no_dump(tree: DumpTree, path: str) -> Diagnostic:
    """What is said of a folder without a dump."""
    names = [os.path.basename(stray.path) for stray in tree.strays]
    arrays = sum(name.endswith(".npy") for name in names)
    if arrays:
        message = (
            "no NPU dump was found in this folder, but a .npy file, which is a reference"
            if arrays == 1
            else (
                "no NPU dump was found in this folder, but {:,} .npy files, which are a reference"
            )
        )
        help_ = "in a comparison the dump of the NPU comes first, the reference second"
        return rules.no_dump_found.diagnostic(phrase(message, arrays), Place(path), help=help_)
    if names:
        message = (
            "no NPU dump was found in this folder; files with other names: {:,}, the first is {}"
        )
        text = phrase(message, len(names), names[0])
    else:
        text = "no NPU dump was found: the folder has no files"
    help_ = (
        "pass the dump_path of the job, or a folder in it; overflow detection writes no "
        "file when nothing overflows"
    )
    return rules.no_dump_found.diagnostic(text, Place(path), help=help_)


def no_such_run(
    tree: DumpTree, path: str, run: Optional[str], device: Optional[int]
) -> Diagnostic:
    """What is said where a run or a device is asked for that a dump does not have."""
    if run is None and device is None:
        message = "the selection matches none of the dumps here; available devices: {}"
        text = phrase(message, listed(map(str, tree.devices)))
        help = "select other dumps: npu-config dump list shows all of them"
        return rules.no_dump_found.diagnostic(text, Place(path), help=help)
    text = phrase(
        "no dump of {} here; available: the runs {} and the devices {}",
        phrase("run {}", run)
        if device is None
        else phrase("device {}", device)
        if run is None
        else phrase("run {} on device {}", run, device),
        listed(tree.runs) or phrase("(none)"),
        listed(map(str, tree.devices)) or phrase("(none)"),
    )
    return rules.no_dump_found.diagnostic(text, Place(path))


class Newest(NamedTuple):
    """One run of each device, and what was left out.

    Args:
        tree: the files.
        runs: (device, run) of the files; a run that the path does not name is None.
        older: (device, run) of the others.
    """

    tree: DumpTree
    runs: Tuple[Tuple[Optional[int], Optional[str]], ...]
    older: Tuple[Tuple[Optional[int], Optional[str]], ...]


def newest(tree: DumpTree, run: Optional[str] = None) -> Newest:
    """The files of the newest run of each device.

    Every process has a run of its own, so a job on several devices has several.

    Args:
        tree: what was found.
        run: the run to choose in place of the newest.
    """
    pairs = sorted({(file.device, file.run) for file in tree}, key=_run_order)
    last = {device: each for device, each in pairs if run is None or each == run}
    kept = [pair for pair in pairs if pair[0] in last and last[pair[0]] == pair[1]]
    files = [file for file in tree if (file.device, file.run) in kept]
    others = [pair for pair in pairs if pair not in kept]
    return Newest(tree.only(files), tuple(kept), tuple(others))


def newest_below(
    path: PathLike,
    run: Optional[str],
    device: Optional[int] = None,
    choose: Callable[[DumpTree], DumpTree] = lambda tree: tree,
) -> Newest:
    """The files below a path that are asked for.

    Args:
        path: as :func:`find_dumps` has it.
        run: the run to choose in place of the newest of each device.
        device: the device to choose; None: all of them.
        choose: leaves out files that are not asked for.

    Raises:
        NpuConfigError: there is no dump, or none that is asked for.
    """
    everything = find_dumps(path)
    if not len(everything):
        raise NpuConfigError([no_dump(everything, os.fspath(path))])
    found = newest(choose(select(everything, device=device)), run)
    if not len(found.tree):
        raise NpuConfigError([no_such_run(everything, os.fspath(path), run, device)])
    return found


def _run_order(pair: Tuple[Optional[int], Optional[str]]) -> Tuple[int, str]:
    device, run = pair
    return -1 if device is None else device, run or ""


def select(
    tree: DumpTree,
    step: Optional[int] = None,
    op: Sequence[str] = (),
    op_type: Sequence[str] = (),
    device: Optional[int] = None,
) -> DumpTree:
    """The files that are asked for.

    Args:
        tree: all of them.
        step: an iteration.
        op: patterns with ``*`` and ``?``; names as the network or as the file has them.
        op_type: the same for operator types.
        device: the number of a device.
    """
    names = [plain(pattern) for pattern in op]
    return tree.only(
        [
            file
            for file in tree
            if (step is None or file.step == step)
            and (device is None or file.device == device)
            and (not names or any(fnmatch.fnmatchcase(file.op_name, name) for name in names))
            and (not op_type or any(fnmatch.fnmatchcase(file.op_type, name) for name in op_type))
        ]
    )


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Operator:
    """One operator of a step, with what its files say together.

    Args:
        name: its real name.
        op_type: its type.
        time: of its last file, in microseconds.
        dump: inputs of its first file that has inputs, outputs of its last that has outputs.
        threads: how many slices of it were dumped (FFTS+); 1 for a whole one.
    """

    name: str
    op_type: str
    time: int
    dump: Dump
    threads: int = 1


class Operators(NamedTuple):
    """The operators of a step in order of time, and what was wrong with their files."""

    operators: Tuple[Operator, ...]
    diagnostics: Tuple[Diagnostic, ...]


def operators(chosen: Sequence[DumpFile]) -> Operators:
    """Read the headers of the files of a step, and put those of one operator together."""
    files: Dict[str, List[Tuple[DumpFile, Dump]]] = {}
    findings: List[Diagnostic] = []
    for file in chosen:
        if file.kind != "tensor":
            continue
        opened = file.open()
        findings.extend(opened.diagnostics)
        if opened.dump is not None:
            name = opened.dump.op_name or file.op_name
            files.setdefault(name, []).append((file, opened.dump))
    result = []
    several: List[Tuple[str, str]] = []
    for name, members in files.items():
        members.sort(key=lambda member: member[0].name.time)
        last, dump = members[-1]
        threads = {member.name.thread for member, _ in members} - {None}
        if len(members) > 1:
            if len(threads) <= 1:
                several.append((name, last.path))
            dump = _together(members)
        operator = Operator(name, last.op_type, last.name.time, dump, max(1, len(threads)))
        result.append(operator)
    if several:
        findings.append(_several(several, len(files)))
    result.sort(key=lambda operator: operator.time)
    return Operators(tuple(result), tuple(findings))


def _several(several: Sequence[Tuple[str, str]], operators: int) -> Diagnostic:
    """Said once of a step: loops and collectives have several files, and mixed runs have."""
    (name, path), count = several[0], len(several)
    message = (
        "operators with several files in one step: {:,} of {:,}, the first is {}; the last "
        "outputs are used"
    )
    mixed = count == operators > 2
    if mixed:
        message = (
            "every operator has several files in one step ({:,} of {:,}, the first is {}), "
            "probably because two runs wrote into one folder; the last outputs are used"
        )
    text = phrase(message, count, operators, name)
    if mixed:
        help_ = "compare the runs separately: move the files of one run to another folder"
        return several_dumps_of_one_operator.diagnostic(
            text, Place(path), severity=Severity.WARNING, help=help_
        )
    return several_dumps_of_one_operator.diagnostic(text, Place(path))


def _together(members: Sequence[Tuple[DumpFile, Dump]]) -> Dump:
    dumps = [dump for _, dump in members]
    inputs = next((dump.inputs for dump in dumps if dump.inputs), ())
    outputs = next((dump.outputs for dump in reversed(dumps) if dump.outputs), ())
    return attr.evolve(dumps[-1], inputs=inputs, outputs=outputs)
