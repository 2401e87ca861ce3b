"""Many files at once: read, migrated by several processes, and fitted to one another.

One import of npu_init per process is enough.  A module that only makes sessions, and edits of
which no name needs, is left alone when an entry script that reaches it imports npu_init.
"""

import concurrent.futures
import os
from concurrent.futures.process import BrokenProcessPool
from typing import (
    Callable,
    Dict,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
)

from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.message import phrase
from npu_config.core.processes import in_processes, without_collector
from npu_config.core.rule import Rule
from npu_config.migration import rules
from npu_config.migration.engine import Analysis, Migration, analyse
from npu_config.migration.launch import shell_notes
from npu_config.migration.names import PACKAGES
from npu_config.migration.neighbours import Neighbours, may_borrow
from npu_config.migration.work import CHANGED, REFUSED
from npu_config.python_flow.source import Undecodable, decode
from npu_config.text.loading import load, too_large

__all__ = ["LARGEST", "Outcome", "Target", "is_candidate", "migrate_files"]

LARGEST = 64 * 1024 * 1024
_WORTH_SHARING = 40
_CHUNK = 20
_SHELLS = (".sh", ".bash")
_MENTIONS = tuple(package.encode("ascii") for package in PACKAGES)


class Target(NamedTuple):
    """One file to migrate.

    ``root`` is the directory that it was found in, if it was; ``content`` is given for what is in
    no file.
    """

    path: str
    root: Optional[str] = None
    content: Optional[bytes] = None


class Outcome(NamedTuple):
    """What became of one file.

    Attributes:
        target: the file.
        migration: None for a file that is not a script, or cannot be read.
        before: its text, where there is anything to say of it.
        encoding: of the file.
        diagnostics: why it was not migrated.
        is_imported: another file imports it.
        is_done: it is a script for the NPU already.
    """

    target: Target
    migration: Optional[Migration] = None
    before: Optional[str] = None
    encoding: str = "utf-8"
    diagnostics: Tuple[Diagnostic, ...] = ()
    is_imported: bool = False
    is_done: bool = False

    def has(self, rule: Rule) -> bool:
        """True when a diagnostic is of a rule."""
        return any(found.rule == rule.id for found in self.diagnostics)

    @property
    def status(self) -> str:
        """That of the migration; ``"refused"`` where there is none, or it was not written."""
        unwritten = self.has(rules.migration_not_written)
        return "refused" if self.migration is None or unwritten else self.migration.status


class _Looked(NamedTuple):
    outcome: Outcome
    needs_patch: bool = False
    is_patch_only: bool = False
    modules: Tuple[str, ...] = ()


class _Work(NamedTuple):
    targets: Tuple[Target, ...]
    imports: str
    session_import: Optional[bool] = None
    keeper: str = ""


def is_candidate(path: str) -> bool:
    """True for a file of a directory that is looked at, by its name."""
    return path.endswith((".py", ".ipynb", *_SHELLS))


def migrate_files(
    targets: Sequence[Target],
    imports: str = "npu_config",
    processes: Optional[int] = None,
    progress: Optional[Callable[[int], None]] = None,
) -> List[Outcome]:
    """Migrate files as one program, in order; nothing is written.

    Args:
        targets: the files.
        imports: the package whose names are imported.
        processes: how many processes share the work; None: one per core where that pays.
        progress: called with the number of files that were just looked at.
    """
    count = processes or (os.cpu_count() or 1)
    works = [
        _Work(tuple(targets[start : start + _CHUNK]), imports)
        for start in range(0, len(targets), _CHUNK)
    ]
    shared = count > 1 and len(targets) >= _WORTH_SHARING
    looked: List[_Looked] = []
    for results in in_processes(_look, works, count, _apart) if shared else map(_look, works):
        if progress is not None:
            progress(len(results))
        looked += results
    return _fitted(looked, imports)


def _apart(work: _Work) -> Iterator[List[_Looked]]:
    """Migrate each file in a process of its own, which may end."""
    return ([_alone(work._replace(targets=(target,)))] for target in work.targets)


def _alone(work: _Work) -> _Looked:
    try:
        with concurrent.futures.ProcessPoolExecutor(1) as pool:
            return pool.submit(_look, work).result()[0]
    except BrokenProcessPool:
        place = Place(work.targets[0].path)
        found = rules.migration_failed.diagnostic("the process that read this script ended", place)
        return _Looked(Outcome(work.targets[0], diagnostics=(found,)))


def _look(work: _Work) -> List[_Looked]:
    return [_look_at(target, work) for target in work.targets]


@without_collector()
def _look_at(target: Target, work: _Work) -> _Looked:
    """Look at one file; a fault of npu_config's own is a finding of the file."""
    try:
        return _of_file(target, work)
    except Exception as error:
        message = phrase("npu_config failed on this script: {}: {}", type(error).__name__, error)
        diagnostic = rules.migration_failed.diagnostic(
            message, Place(target.path), help="report it"
        )
        return _Looked(Outcome(target, diagnostics=(diagnostic,)))


def _of_file(target: Target, work: _Work) -> _Looked:
    data = _read(target)
    if isinstance(data, Diagnostic):
        return _Looked(Outcome(target, diagnostics=(data,)))
    if target.path.endswith(".ipynb"):
        return _Looked(_notebook(target, data))
    if target.path.endswith(_SHELLS):
        text = data.decode("utf-8", "replace")
        notes = tuple(shell_notes(text))
        return _Looked(Outcome(target, Migration(text, notes=notes), text if notes else None))
    is_mentioned = target.root is None or any(name in data for name in _MENTIONS)
    if not is_mentioned and not may_borrow(data.decode("utf-8", "replace")):
        return _Looked(Outcome(target, Migration("")))
    neighbours = Neighbours(os.path.dirname(os.path.abspath(target.path)), target.root)
    found = analyse(data, work.imports, work.session_import, work.keeper, neighbours)
    return _looked(target, data, found)


def _looked(target: Target, data: bytes, found: Analysis) -> _Looked:
    migration = found.migration
    if not migration.notes:
        outcome = Outcome(target, Migration(""), is_done=found.is_done)
        return _Looked(outcome, found.needs_patch, found.is_patch_only, found.modules)
    try:
        before, encoding = decode(data)
    except Undecodable:
        before, encoding = data.decode("latin-1"), "latin-1"
    if migration.edits and _lossy(before, migration.text, encoding, data):
        message = phrase("its encoding {} cannot be written back as it was", encoding)
        diagnostic = rules.migration_not_written.diagnostic(message, Place(target.path))
        return _Looked(Outcome(target, diagnostics=(diagnostic,)))
    outcome = Outcome(target, migration, before, encoding, is_done=found.is_done)
    return _Looked(outcome, found.needs_patch, found.is_patch_only, found.modules)


def _lossy(before: str, after: str, encoding: str, data: bytes) -> bool:
    try:
        after.encode(encoding)
        return before.encode(encoding) != data
    except UnicodeError:
        return True


def _read(target: Target) -> Union[bytes, Diagnostic]:
    if target.root is not None and os.path.islink(target.path):
        inside = os.path.join(os.path.realpath(target.root), "")
        if not os.path.realpath(target.path).startswith(inside):
            return rules.link_out_of_tree.diagnostic(
                phrase("this link leads out of {}: not touched", target.root),
                Place(target.path),
                help="name the file itself to migrate it",
            )
    if target.content is None:
        return load(target.path, LARGEST)
    is_large = len(target.content) > LARGEST
    return too_large(target.path, LARGEST) if is_large else target.content


def _notebook(target: Target, data: bytes) -> Outcome:
    if target.root is not None and not any(name in data for name in _MENTIONS):
        return Outcome(target)
    found = rules.notebook_not_migrated.diagnostic(
        "notebooks are not migrated",
        Place(target.path),
        help="export its code: jupyter nbconvert --to script",
    )
    return Outcome(target, diagnostics=(found,))


# One program


def _fitted(looked: List[_Looked], imports: str) -> List[Outcome]:
    """Fit the files of each program to one another.

    Horovod stays in every file of a program when it stays in one of them; imports that only patch
    sessions move to the entry scripts.
    """
    paths = {os.path.abspath(one.outcome.target.path): index for index, one in enumerate(looked)}
    known = {""} | {part for path in paths for part in path[: -len(".py")].split(os.sep)[-2:]}
    importers: Dict[int, Set[int]] = {}
    for index, one in enumerate(looked):
        for imported in _files_of(one, paths, known):
            if imported != index:
                importers.setdefault(imported, set()).add(index)
    for index, keeper in _keeping_horovod(looked, importers).items():
        work = _Work((looked[index].outcome.target,), imports, None, keeper)
        looked[index] = _look_at(looked[index].outcome.target, work)
    wanted: Dict[int, bool] = {}
    for index, one in enumerate(looked):
        if one.needs_patch and one.is_patch_only and importers.get(index):
            if "__main__" in (one.outcome.before or ""):
                continue
            entries = _entries(index, importers)
            if entries and not any(_is_refused(looked[entry].outcome) for entry in entries):
                wanted[index] = False
                wanted.update((entry, True) for entry in entries if wanted.get(entry) is None)
    outcomes = [one.outcome for one in looked]
    for index, session_import in wanted.items():
        migration = outcomes[index].migration
        has_edits = migration is not None and bool(migration.edits)
        if session_import == has_edits:
            continue
        work = _Work((outcomes[index].target,), imports, session_import)
        outcomes[index] = _look_at(outcomes[index].target, work).outcome
    return [one._replace(is_imported=index in importers) for index, one in enumerate(outcomes)]


def _keeping_horovod(looked: Sequence[_Looked], importers: Dict[int, Set[int]]) -> Dict[int, str]:
    """The files that lose Horovod though one of their program keeps it, with that one."""
    neighbours: Dict[int, Set[int]] = {}
    for imported, others in importers.items():
        for other in others:
            neighbours.setdefault(imported, set()).add(other)
            neighbours.setdefault(other, set()).add(imported)
    found: Dict[int, str] = {}
    for index, one in enumerate(looked):
        if not (_is_refused(one.outcome) and _says(one.outcome, "hvd-import", REFUSED)):
            continue
        seen, pending = {index}, [index]
        while pending:
            for other in neighbours.get(pending.pop(), set()) - seen:
                seen.add(other)
                pending.append(other)
                if _says(looked[other].outcome, "hvd-import", CHANGED):
                    found.setdefault(other, os.path.basename(one.outcome.target.path))
    return found


def _says(outcome: Outcome, id: str, kind: str) -> bool:
    migration = outcome.migration
    notes = () if migration is None else migration.notes
    return any(note.id == id and note.kind == kind for note in notes)


def _is_refused(outcome: Outcome) -> bool:
    return outcome.migration is None or outcome.migration.status == "refused"


def _entries(index: int, importers: Dict[int, Set[int]]) -> List[int]:
    """The files from which a file is reached, and that nothing imports."""
    seen, pending, found = {index}, [index], []
    while pending:
        for other in importers.get(pending.pop(), ()):
            if other not in seen:
                seen.add(other)
                pending.append(other)
                if not importers.get(other):
                    found.append(other)
    return sorted(found)


def _files_of(one: _Looked, paths: Dict[str, int], known: Set[str]) -> Iterator[int]:
    """The files of the program that a file imports."""
    target = one.outcome.target
    folder = os.path.dirname(os.path.abspath(target.path))
    roots = [folder] if target.root is None else [folder, os.path.abspath(target.root)]
    for module in one.modules:
        if module.rsplit(".", 1)[-1] not in known:
            continue
        level = len(module) - len(module.lstrip("."))
        bases = roots
        if level:
            base = folder
            for _ in range(level - 1):
                base = os.path.dirname(base)
            bases = [base]
        name = module.lstrip(".").replace(".", os.sep)
        for base in bases:
            for candidate in (name + ".py", os.path.join(name, "__init__.py")):
                found = paths.get(os.path.join(base, candidate))
                if found is not None:
                    yield found
