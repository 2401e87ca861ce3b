"""Many files at once: read, migrated by several processes, and fitted to one another."""

import concurrent.futures
import os
import re
from concurrent.futures.process import BrokenProcessPool
from typing import Callable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from npu_config.core.diagnostics import Diagnostic, Place, Rule
from npu_config.core.message import phrase
from npu_config.core.processes import in_processes, without_collector
from npu_config.migration import rules
from npu_config.migration.engine import Analysis, Migration, analyse, is_entry, named_modules
from npu_config.migration.launch import shell_notes
from npu_config.migration.names import CONCERNING
from npu_config.migration.notebook import open_notebook
from npu_config.migration.program import Asked, FileOutcome, FileToMigrate, Looked, fit
from npu_config.migration.python2 import WORDS
from npu_config.migration.resolve import Neighbours, may_borrow
from npu_config.migration.work import MANUAL
from npu_config.python_flow.source import Undecodable, Unparsable, decode, parse
from npu_config.script.neighbours import remembering
from npu_config.text.source import load, too_large

__all__ = ["LARGEST", "FileOutcome", "FileToMigrate", "is_candidate", "migrate_files"]

LARGEST = 64 * 1024 * 1024
_WORTH_SHARING = 40
_CHUNK = 20
_SHELLS = (".sh", ".bash")
_MENTIONS = tuple(package.encode("ascii") for package in CONCERNING)


class _Work(NamedTuple):
    targets: Tuple[FileToMigrate, ...]
    imports: str
    partial: bool
    asked: Asked = Asked()


def is_candidate(path: str) -> bool:
    """True for a file of a directory that is looked at, by its name."""
    return path.endswith((".py", ".ipynb", *_SHELLS))


def migrate_files(
    targets: Sequence[FileToMigrate],
    imports: str = "npu_config",
    processes: Optional[int] = None,
    progress: Optional[Callable[[int], None]] = None,
    partial: bool = False,
) -> List[FileOutcome]:
    """Migrate files as one program, in order; nothing is written.

    Args:
        targets: the files.
        imports: the package whose names are imported.
        processes: how many processes share the work; None: one per core where that pays.
        progress: called with the number of files that were just looked at.
        partial: edit what depends on something that is refused, too.
    """
    count = processes or (os.cpu_count() or 1)
    works = [
        _Work(tuple(targets[start : start + _CHUNK]), imports, partial)
        for start in range(0, len(targets), _CHUNK)
    ]
    shared = count > 1 and len(targets) >= _WORTH_SHARING
    looked: List[Looked] = []
    for results in in_processes(_look, works, count, _apart) if shared else map(_look, works):
        if progress is not None:
            progress(len(results))
        looked += results

    def look(target: FileToMigrate, asked: Asked) -> Looked:
        return _look_at(target, _Work((target,), imports, partial, asked))

    with remembering():
        return fit(looked, look)


def _apart(work: _Work) -> Iterator[List[Looked]]:
    """Migrate each file in a process of its own, which may end."""
    return ([_alone(work._replace(targets=(target,)))] for target in work.targets)


def _alone(work: _Work) -> Looked:
    try:
        with concurrent.futures.ProcessPoolExecutor(1) as pool:
            return pool.submit(_look, work).result()[0]
    except BrokenProcessPool:
        message = "the process that read this script ended unexpectedly"
        return _left(work.targets[0], rules.migration_failed, message)


@remembering()
def _look(work: _Work) -> List[Looked]:
    return [_look_at(target, work) for target in work.targets]


@without_collector()
def _look_at(target: FileToMigrate, work: _Work) -> Looked:
    """Look at one file; a fault of npu_config's own is a finding of the file."""
    try:
        return _of_file(target, work)
    except Exception as error:
        message = phrase("npu_config failed on this script: {}: {}", type(error).__name__, error)
        return _left(target, rules.migration_failed, message, "please report this error")


def _left(target: FileToMigrate, rule: Rule, message: str, help: Optional[str] = None) -> Looked:
    """A file that is left as it is, and why."""
    found = rule.diagnostic(message, Place(target.path), help=help)
    return Looked(FileOutcome(target, diagnostics=(found,)))


def _of_file(target: FileToMigrate, work: _Work) -> Looked:
    data = _read(target)
    if isinstance(data, Diagnostic):
        return Looked(FileOutcome(target, diagnostics=(data,)))
    if target.path.endswith(".ipynb"):
        return _notebook(target, data, work)
    if target.path.endswith(_SHELLS):
        text = data.decode("utf-8", "replace")
        notes = tuple(shell_notes(text))
        return Looked(FileOutcome(target, Migration(text, notes=notes), text if notes else None))
    is_mentioned = target.root is None or any(name in data for name in _MENTIONS)
    asked = work.asked
    is_wanted = is_mentioned or any((asked.session_import, asked.borrowed, asked.makers))
    if not is_wanted and not may_borrow(data.decode("utf-8", "replace")):
        unread = _unread(data)
        if _OLD.search(data) is None:
            return Looked(FileOutcome(target, Migration("")), unread)
        notes = _analysed(data, target, work).migration.notes
        old = tuple(note for note in notes if (note.id, note.kind) == ("python2", MANUAL))
        found = unread._replace(migration=Migration(data.decode("utf-8", "replace"), notes=old))
        return _looked(target, data, found)
    found = _analysed(data, target, work)
    return _looked(target, data, found)


_IMPORT = re.compile(
    rb"^[ \t]{0,20}(?:from[ \t]{1,4}([\w.]{1,200})[ \t]{1,4}import[ \t]{1,4}"
    rb"(\*|[\w, \t]{1,400}|\([^)]{1,4000})"
    rb"|import[ \t]{1,4}([\w.]{1,200}))",
    re.M,
)


_COMMENT = re.compile(rb"#[^\n]*")
_OLD = re.compile("|".join(r"\b{}\b".format(word) for word in sorted(WORDS)).encode("ascii"))
_CALLS = re.compile(rb"^(?:for|with|while)\b|^[\w., ]{0,200}(?:=[ \t]{0,8}[\w.]{1,200})?\(", re.M)


def _does_something(data: bytes) -> bool:
    try:
        return is_entry(parse(decode(data).text))
    except (Undecodable, Unparsable, RecursionError):
        return False


def _unread(data: bytes) -> Analysis:
    """What a script imports that mentions nothing of TensorFlow, without parsing it."""
    modules: List[str] = []
    for source, names, module in _IMPORT.findall(data):
        outer = (source or module).decode("ascii", "replace")
        modules.append(outer)
        names = _COMMENT.sub(b"", names.lstrip(b"("))
        for name in names.decode("ascii", "replace").split(","):
            modules += [
                outer + ("" if outer.endswith(".") else ".") + one for one in name.split()[:1]
            ]
    modules += named_modules(data.decode("utf-8", "replace"))
    has_guard = b"__main__" in data
    return Analysis(
        Migration(""),
        modules=tuple(modules),
        is_entry=has_guard or (_CALLS.search(data) is not None and _does_something(data)),
        has_guard=has_guard,
        is_concerned=False,
    )


def _looked(target: FileToMigrate, data: bytes, found: Analysis) -> Looked:
    migration = found.migration
    if not migration.notes:
        outcome = FileOutcome(target, Migration(""), is_done=found.is_done)
        return Looked(outcome, found)
    try:
        before, encoding = decode(data)
    except Undecodable:
        before, encoding = data.decode("latin-1"), "latin-1"
    if migration.edits and _lossy(before, migration.text, encoding, data):
        message = phrase(
            "the migrated text cannot be written in the encoding {} of this file without a loss",
            encoding,
        )
        return _left(target, rules.migration_not_written, message)
    outcome = FileOutcome(target, migration, before, encoding, is_done=found.is_done)
    return Looked(outcome, found)


def _lossy(before: str, after: str, encoding: str, data: bytes) -> bool:
    try:
        after.encode(encoding)
        return before.encode(encoding) != data
    except UnicodeError:
        return True


def _read(target: FileToMigrate) -> Union[bytes, Diagnostic]:
    if target.root is not None and os.path.islink(target.path):
        inside = os.path.join(os.path.realpath(target.root), "")
        if not os.path.realpath(target.path).startswith(inside):
            return rules.link_out_of_tree.diagnostic(
                phrase("this link points outside of {}: not migrated", target.root),
                Place(target.path),
                help="pass the file itself to migrate it",
            )
    if target.content is None:
        return load(target.path, LARGEST)
    is_large = len(target.content) > LARGEST
    return too_large(target.path, LARGEST) if is_large else target.content


def _notebook(target: FileToMigrate, data: bytes, work: _Work) -> Looked:
    """Migrate the code cells of a notebook."""
    if target.root is not None and not any(name in data for name in _MENTIONS):
        return Looked(FileOutcome(target))
    try:
        text = data.decode("utf-8")
        opened = open_notebook(text)
    except UnicodeDecodeError as error:
        opened = phrase("not text: {}", error)
    if isinstance(opened, str):
        help = "export the code: jupyter nbconvert --to script"
        return _left(target, rules.notebook_not_migrated, opened, help)
    analysis = _analysed(opened.script, target, work)
    analysis = analysis._replace(migration=opened.migrated(analysis.migration))
    before = text if analysis.migration.notes else None
    return Looked(
        FileOutcome(target, analysis.migration, before, is_done=analysis.is_done), analysis
    )


def _analysed(source: Union[str, bytes], target: FileToMigrate, work: _Work) -> Analysis:
    neighbours = Neighbours(os.path.dirname(os.path.abspath(target.path)), target.root)
    return analyse(
        source,
        work.imports,
        work.asked.session_import,
        work.asked.keeper,
        work.asked.borrowed,
        neighbours,
        work.partial,
        target.path,
        work.asked.makers,
    )
