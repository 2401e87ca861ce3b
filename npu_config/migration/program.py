"""The files of one program, fitted to one another, and what became of each script that is run.

One import of npu_init per process is enough.  A module that only makes sessions, and edits of
which no name needs, is left alone when an entry script that reaches it imports npu_init.
"""

import os
import re
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Set,
    Tuple,
)

import attr

from npu_config.core.diagnostics import Diagnostic, Rule, Severity
from npu_config.core.message import phrase
from npu_config.migration import libraries, rules
from npu_config.migration.engine import Analysis, Migration
from npu_config.migration.names import PACKAGES
from npu_config.migration.work import CHANGED, MANUAL, REFUSED, Note
from npu_config.text.source import load

__all__ = ["Asked", "EntryPoint", "Looked", "FileOutcome", "FileToMigrate", "fit"]


class FileToMigrate(NamedTuple):
    """One file to migrate.

    ``root`` is the directory that it was found in, if it was; ``content`` is given for what is in
    no file.
    """

    path: str
    root: Optional[str] = None
    content: Optional[bytes] = None


class EntryPoint(NamedTuple):
    """Whether the process of a script that is run ends up with the NPU's initialisation.

    ``how`` is ``"edited"``, ``"already"``, ``"not-needed"`` (it makes no session), ``"refused"``
    or ``"unknown"``; ``by`` is the file that imports npu_init, that is refused, or the package of
    which it is not known whether it makes sessions; ``is_open``: an error is left to be mended
    by hand in a file that it reaches.
    """

    how: str
    by: str = ""
    is_open: bool = False


class FileOutcome(NamedTuple):
    """What became of one file.

    Attributes:
        target: the file.
        migration: None for a file that is not a script, or cannot be read.
        before: its text, where there is anything to say of it.
        encoding: of the file.
        diagnostics: why it was not migrated.
        is_imported: another file imports it.
        is_done: it is a script for the NPU already.
        entry: what becomes of its process, for a script that is run.
    """

    target: FileToMigrate
    migration: Optional[Migration] = None
    before: Optional[str] = None
    encoding: str = "utf-8"
    diagnostics: Tuple[Diagnostic, ...] = ()
    is_imported: bool = False
    is_done: bool = False
    entry: Optional[EntryPoint] = None

    def has(self, rule: Rule) -> bool:
        """True when a diagnostic is of a rule."""
        return any(found.rule == rule.id for found in self.diagnostics)

    def says(self, id: str, kind: str) -> bool:
        """True when an entry of its report is of a fact and a kind."""
        notes = () if self.migration is None else self.migration.notes
        return any(note.id == id and note.kind == kind for note in notes)

    @property
    def is_refused(self) -> bool:
        """True for a file in which nothing can be edited."""
        return self.migration is None or self.migration.is_blocked

    @property
    def status(self) -> str:
        """That of the migration; ``"refused"`` where there is none, or it was not written."""
        unwritten = self.has(rules.migration_not_written)
        return "refused" if self.migration is None or unwritten else self.migration.status


class Looked(NamedTuple):
    """A file that was looked at; ``analysis`` is None for one that is not a script."""

    outcome: FileOutcome
    analysis: Optional[Analysis] = None


class Asked(NamedTuple):
    """How a file is looked at, for the sake of the others.

    Attributes:
        session_import: whether npu_init is imported; None: as needed.
        keeper: why Horovod has to stay: another file keeps or takes it.
        borrowed: the name of Horovod that it takes from another file.
        makers: the functions of other files that give a session, which whoever calls them closes.
    """

    session_import: Optional[bool] = None
    keeper: str = ""
    borrowed: str = ""
    makers: FrozenSet[str] = frozenset()


Look = Callable[[FileToMigrate, Asked], Looked]
"""Looks at a file anew."""


class ImportGraph:
    """Files with what each one imports.

    Args:
        looked: the files.
        look: looks at one of them anew.
    """

    def __init__(self, looked: List[Looked], look: Look) -> None:
        self.looked = looked
        self.look = look
        self._asked: Dict[int, Asked] = {}
        self.count = len(looked)
        self.paths = {
            os.path.abspath(one.outcome.target.path): index for index, one in enumerate(looked)
        }
        self.known = {""} | {part for path in self.paths for part in _parts(path)}
        self.imports: List[List[int]] = []
        self.own: List[Set[str]] = []
        self._taken: Dict[Tuple[int, int], Set[str]] = {}
        self._hidden: Set[Tuple[int, int]] = set()
        self._tails: Dict[int, Dict[Tuple[str, ...], List[int]]] = {}
        self._read_all()
        self.importers: Dict[int, Set[int]] = {}
        for index, modules in enumerate(self.imports):
            for imported in modules:
                if imported != index:
                    self.importers.setdefault(imported, set()).add(index)

    def _read_all(self) -> None:
        """Follow the imports; modules beside a file that was named by itself are read, too."""
        index = 0
        while index < len(self.looked):
            self.own.append(set())
            self.imports.append(list(dict.fromkeys(self._files_of(index))))
            index += 1

    def _files_of(self, index: int) -> Iterator[int]:
        """The files of the program that a file imports, those of the packages around included."""
        one = self.looked[index]
        target = one.outcome.target
        folder = os.path.dirname(os.path.abspath(target.path))
        roots = [folder] if target.root is None else [folder, os.path.abspath(target.root)]
        found: Dict[str, List[int]] = {}
        for module in one.analysis.modules if one.analysis is not None else ():
            is_alone = target.root is None and target.content is None
            if module.split(".")[0] in PACKAGES:
                continue
            outer, name = _split(module)
            for other in found.get(outer, ()):
                self._taken.setdefault((index, other), set()).add(name)
            if module.endswith(".*"):
                folder_of = os.path.join(*module[:-2].split("."))
                inside = [os.path.join(root, folder_of) for root in roots]
                yield from (
                    self.paths[path] for path in self.paths if os.path.dirname(path) in inside
                )
                continue
            if not is_alone and module.rpartition(".")[2] not in self.known:
                continue
            level = len(module) - len(module.lstrip("."))
            bases = roots
            if level:
                base = folder
                for _ in range(level - 1):
                    base = os.path.dirname(base)
                bases = [base]
            name = module.lstrip(".").replace(".", os.sep)
            near = list(self._files_below(bases[:1], name, is_alone))
            far = list(self._files_below(bases[1:], name, is_alone))
            if near:
                self._hidden.update((index, other) for other in set(far) - set(near))
            files = found[module] = near + far
            if not files and not level and target.root is not None:
                files = found[module] = self._elsewhere(module.split("."), folder)
            if files:
                self.own[index].add(module)
            yield from files

    def _files_below(self, bases: List[str], name: str, is_alone: bool) -> Iterator[int]:
        for base in bases:
            for candidate in (name + ".py", os.path.join(name, "__init__.py")):
                path = os.path.join(base, candidate)
                found = self.paths.get(path)
                if found is None and is_alone and name and os.path.isfile(path):
                    found = self._add(path)
                if found is not None:
                    yield found
                    yield from self._packages(base, name)

    def _packages(self, base: str, name: str) -> Iterator[int]:
        """The packages that are imported before a module in them is."""
        outer = os.path.dirname(name)
        while outer:
            found = self.paths.get(os.path.join(base, outer, "__init__.py"))
            if found is not None:
                yield found
            outer = os.path.dirname(outer)

    def _elsewhere(self, parts: List[str], folder: str) -> List[int]:
        """The files of a module of the project that only sys.path leads to: the nearest ones."""
        if libraries.is_known(parts[0]):
            return []
        tails = self._tails.get(len(parts))
        if tails is None:
            tails = self._tails[len(parts)] = {}
            for path, index in self.paths.items():
                names = path[: -len(".py")].split(os.sep) if path.endswith(".py") else []
                names = names[:-1] if names[-1:] == ["__init__"] else names
                tails.setdefault(tuple(names[-len(parts) :]), []).append(index)
        found = tails.get(tuple(parts), [])
        if len(found) > _NEAREST:
            return []
        near = {one: len(os.path.commonpath((self._path(one), folder))) for one in found}
        result = [one for one in found if near[one] == max(near.values())]
        for one in list(result):
            base = self._path(one)
            base = os.path.dirname(base) if base.endswith("__init__.py") else base
            for _ in parts:
                base = os.path.dirname(base)
            result += self._packages(base, os.path.join(*parts))
        return result

    def _path(self, index: int) -> str:
        return os.path.abspath(self.looked[index].outcome.target.path)

    def _add(self, path: str) -> Optional[int]:
        """Read a module that was not named, to know whether it makes sessions."""
        if len(self.looked) - self.count >= _MOST:
            return None
        self.paths[path] = len(self.looked)
        self.looked.append(self.look(FileToMigrate(path), Asked(False)))
        return self.paths[path]

    def _look_again(self, index: int, **changed: Any) -> None:
        asked = self._asked[index] = self._asked.get(index, Asked())._replace(**changed)
        self.looked[index] = self.look(self.looked[index].outcome.target, asked)

    # Horovod

    def keep_horovod(self) -> None:
        """Horovod stays in every file of a program when it stays in one of them."""
        for taker, giver, name in list(self._borrowed()):
            text = phrase(_TAKEN, os.path.basename(self._name(taker)), name)
            self._look_again(giver, keeper=text)
            if taker < self.count:
                self._look_again(taker, borrowed=name)
        for index, keeper in self._keeping_horovod().items():
            self._look_again(index, keeper=keeper)

    def _borrowed(self) -> Iterator[Tuple[int, int, str]]:
        """The files that take Horovod from one that would lose it, that one, and the name."""
        for index, one in enumerate(self.looked[: self.count]):
            if one.outcome.says("hvd-import", CHANGED):
                for other in sorted(self.importers.get(index, ())):
                    names = self._found(index).of_horovod & self._takes(other, index)
                    yield from ((other, index, name) for name in sorted(names)[:1])

    def _takes(self, index: int, other: int) -> Set[str]:
        """The names that a file takes from another one: what it imports, and their attributes."""
        taken = set(self._taken.get((index, other), ()))
        target = self.looked[index].outcome.target
        data = load(target.path, _LARGEST) if target.content is None else target.content
        text = data.decode("latin-1") if isinstance(data, bytes) else ""
        module = _parts(self._path(other))[-1]
        if module == "__init__":
            module = os.path.basename(os.path.dirname(self._path(other)))
        renamed = re.findall(r"\b{}[ \t]+as[ \t]+(\w+)".format(re.escape(module)), text)
        owners = "|".join(map(re.escape, {module, *renamed}))
        taken.update(re.findall(r"\b(?:{})[ \t]*\.[ \t]*(\w+)".format(owners), text))
        return taken | set(re.findall(r"\w+", text) if "*" in taken else ())

    def _keeping_horovod(self) -> Dict[int, str]:
        """The files that lose Horovod though one of their program keeps it, with why it stays."""
        neighbours: Dict[int, Set[int]] = {}
        for imported, others in self.importers.items():
            for other in others:
                neighbours.setdefault(imported, set()).add(other)
                neighbours.setdefault(other, set()).add(imported)
        found: Dict[int, str] = {}
        for index, one in enumerate(self.looked[: self.count]):
            keeps = one.outcome.says("hvd-import", REFUSED) or self._found(index).of_horovod
            if one.outcome.status != "refused" or not keeps:
                continue
            seen, pending = {index}, [index]
            while pending:
                for other in neighbours.get(pending.pop(), set()) - seen:
                    seen.add(other)
                    pending.append(other)
                    if other < self.count and self.looked[other].outcome.says(
                        "hvd-import", CHANGED
                    ):
                        name = os.path.basename(one.outcome.target.path)
                        found.setdefault(other, phrase(_KEPT, name))
        return found

    # The import of npu_init

    def move_imports(self) -> None:
        """Imports that only patch sessions move to the entry scripts."""
        wanted: Dict[int, bool] = {}
        for index, one in enumerate(self.looked[: self.count]):
            found = one.analysis
            if found is None or not (found.needs_patch and found.is_patch_only):
                continue
            if not self.importers.get(index) or found.has_guard:
                continue
            entries = self._entries(index)
            if entries and not any(self.looked[entry].outcome.is_refused for entry in entries):
                wanted[index] = False
                wanted.update((entry, True) for entry in entries if wanted.get(entry) is None)
        for index, is_wanted in wanted.items():
            migration = self.looked[index].outcome.migration
            if is_wanted != (migration is not None and bool(migration.edits)):
                self._look_again(index, session_import=is_wanted)

    def _entries(self, index: int) -> List[int]:
        """The files from which a file is reached, and that nothing imports."""
        seen, pending, found = {index}, [index], []
        while pending:
            for other in self.importers.get(pending.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    pending.append(other)
                    if not self.importers.get(other):
                        found.append(other)
        return sorted(found)

    # Sessions that functions give to other files

    def follow_sessions(self) -> None:
        """Whoever is given a session by a function of another file has to close it."""
        makers: Dict[int, FrozenSet[str]] = {}
        for index, one in enumerate(self.looked):
            names = one.analysis.makers if one.analysis is not None else frozenset()
            for importer in self.importers.get(index, ()) if names else ():
                if importer < self.count:
                    makers[importer] = makers.get(importer, frozenset()) | names
        for importer, names in sorted(makers.items()):
            self._look_again(importer, makers=names)

    # Scripts that are run

    def reach(self) -> Iterator[FileOutcome]:
        """The outcomes, each script that is run with what becomes of its process."""
        for index in range(self.count):
            entry = self._entry(index)
            outcome = self.looked[index].outcome
            migration = outcome.migration
            if migration is not None and not (
                self._found(index).is_concerned or index in self.importers
            ):
                migration = attr.evolve(  # no process of the job runs it
                    migration,
                    notes=tuple(n for n in migration.notes if (n.id, n.kind) != _OLD),
                )
                outcome = outcome._replace(migration=migration)
            note = self._note(index, entry)
            if note is not None and migration is not None:
                notes = tuple(sorted((*migration.notes, note), key=lambda one: one.line))
                outcome = outcome._replace(migration=attr.evolve(migration, notes=notes))
            yield outcome._replace(is_imported=index in self.importers, entry=entry)

    def _is_run(self, index: int) -> bool:
        one = self.looked[index]
        if one.analysis is None or not one.analysis.is_entry:
            return False
        importers = self.importers.get(index, ())
        is_imported = any((other, index) not in self._hidden for other in importers)
        return not is_imported or one.analysis.has_guard

    def _entry(self, index: int) -> Optional[EntryPoint]:
        if self.looked[index].outcome.has(rules.notebook_not_migrated):
            return EntryPoint("refused", self._name(index))
        if not self._is_run(index):
            return None
        reached = self._closure(index)
        if not any(self._found(one).is_concerned for one in reached):
            return None
        npu = [one for one in reached if self._imports_npu(one)]
        makers = [
            one for one in reached if self._found(one).makes and not self._found(one).is_done
        ]
        forced = [one for one in reached if self._found(one).is_forced]
        refused = [
            one
            for one in (index, *makers)
            if self.looked[one].outcome.is_refused
            and (one == index or not self._found(one).is_guarded)
        ]
        refused = forced or refused
        is_refused = self.looked[index].outcome.is_refused and not self._found(index).is_done
        if is_refused or forced or (makers and refused):
            return EntryPoint("refused", self._name(index if is_refused else refused[0]))
        if npu:
            is_done = all(self._found(one).is_done for one in npu)
            by = self._name(npu[0])
            return EntryPoint("already" if is_done else "edited", by, self._is_open(reached))
        is_graph = any(self._found(one).has_graph for one in reached)
        if makers or (is_graph and any(self._found(one).libraries for one in reached)):
            self._look_again(index, session_import=True)
            if self._imports_npu(index):
                return EntryPoint("edited", self._name(index), self._is_open(reached))
            return EntryPoint("refused", self._name(index))
        if not is_graph:
            return EntryPoint("not-needed")
        unknown = [name for one in reached for name in self._unknown(one)]
        return EntryPoint("unknown", unknown[0]) if unknown else EntryPoint("not-needed")

    def _closure(self, index: int) -> List[int]:
        """A file and what it imports, directly or not, in this order."""
        seen, pending = [index], [index]
        known = {index}
        while pending:
            for other in self.imports[pending.pop()]:
                if other not in known:
                    known.add(other)
                    seen.append(other)
                    pending.append(other)
        return seen

    def _is_open(self, reached: List[int]) -> bool:
        """True where an error is left to be mended by hand."""
        files = [one for one in reached if not self._found(one).is_guarded]
        migrations = [self.looked[one].outcome.migration for one in files]
        notes = (note for migration in migrations if migration for note in migration.notes)
        return any(note.severity is Severity.ERROR for note in notes)

    def _found(self, index: int) -> Analysis:
        return self.looked[index].analysis or _NOTHING

    def _imports_npu(self, index: int) -> bool:
        """True for a file that imports npu_init, already or by its edits."""
        if self._found(index).is_done:
            return True
        return index < self.count and self.looked[index].outcome.says("import-npu", CHANGED)

    def _name(self, index: int) -> str:
        return self.looked[index].outcome.target.path

    def _unknown(self, index: int) -> List[str]:
        """The packages that a file imports and that are neither known nor of the program."""
        own = {".".join(parts[:n]) for one in self.own[index] for parts, n in _heads(one)}
        return [name for _, name in self._found(index).unknown if name not in own]

    def _note(self, index: int, entry: Optional[EntryPoint]) -> Optional[Note]:
        """What is said in the report of a script whose process is not initialised."""
        if entry is None or entry.how not in ("unknown", "refused"):
            return None
        if entry.how == "refused":
            if entry.by == self._name(index) or self._imports_npu(index):
                return None
            text = phrase(_REFUSED, os.path.basename(entry.by))
            return Note(1, "import-npu", MANUAL, text, True)
        line = next((at for at, name in self._found(index).unknown if name == entry.by), 1)
        return Note(line, "import-npu", MANUAL, phrase(_UNKNOWN, entry.by), True)


_OLD = ("python2", MANUAL)
_LARGEST = 4 * 1024 * 1024
_KEPT = (
    "{} still uses Horovod and belongs to the same program: migrate the whole program, or "
    "leave all of it unchanged"
)
_TAKEN = '{} takes "{}" from this module: import Horovod directly in that file'
_MOST = 500
"""How many modules are read that were not named."""
_NEAREST = 32
"""How many files can have the name of one module, so that one of them is taken for it."""
_NOTHING = Analysis(Migration(""), is_concerned=False)
_REFUSED = (
    "this program creates its session in {}, which cannot be migrated yet: after migrating "
    "that file, import npu_init here, before the session is created"
)
_UNKNOWN = (
    "the files that were read create no session, and it is not known whether {} creates "
    "one: if so, import npu_init here (from npu_config.npu_init import *)"
)


def _heads(module: str) -> Iterator[Tuple[List[str], int]]:
    parts = module.split(".")
    return ((parts, count + 1) for count in range(len(parts)))


def _split(module: str) -> Tuple[str, str]:
    """A module with a name of it apart; the dots of a relative import stay with the module."""
    name = module.rpartition(".")[2]
    outer = module[: -len(name)] if name else module
    return (outer[:-1] if outer.strip(".") else outer), name


def _parts(path: str) -> List[str]:
    """The last names of a path, without its ending."""
    return path[: -len(".py")].split(os.sep)[-2:]


def fit(looked: List[Looked], look: Look) -> List[FileOutcome]:
    """Fit the files of each program to one another.

    Args:
        looked: the files.
        look: looks at one of them anew.
    """
    program = ImportGraph(looked, look)
    program.keep_horovod()
    program.move_imports()
    program.follow_sessions()
    return list(program.reach())
