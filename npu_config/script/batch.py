"""Many scripts at once: what cannot matter is never parsed, and two processes share the rest."""

import concurrent.futures
import gc
import os
import stat
from concurrent.futures.process import BrokenProcessPool
from typing import (
    AbstractSet,
    Callable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from npu_config.core.collector import without_collector
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.files import reading
from npu_config.core.target import Target
from npu_config.script import read
from npu_config.script._rules import NOT_PYTHON
from npu_config.script.neighbours import remembering
from npu_config.script.vocabulary import may_matter
from npu_config.text.guard import guarded
from npu_config.text.loading import load

__all__ = ["Checked", "check_scripts"]

LARGEST = 64 * 1024 * 1024
PROCESSES = 2
_WORTH_SHARING = 400
_CHUNK = 100


class Checked(NamedTuple):
    """One script that was checked.

    ``text`` is given when there are findings; ``skipped`` is True when it could not be read.
    """

    path: str
    diagnostics: Tuple[Diagnostic, ...]
    text: Optional[str] = None
    encoding: str = "utf-8"
    skipped: bool = False


class _Work(NamedTuple):
    paths: Tuple[str, ...]
    target: Optional[Target]
    environ: Optional[Mapping[str, str]]
    on_host: bool
    named: AbstractSet[str] = frozenset()


def check_scripts(
    paths: Sequence[str],
    target: Optional[Target] = None,
    environ: Optional[Mapping[str, str]] = None,
    on_host: bool = False,
    processes: int = PROCESSES,
    named: AbstractSet[str] = frozenset(),
    progress: Optional[Callable[[int], None]] = None,
) -> Iterator[Checked]:
    """Check scripts, in order; those that name nothing of the NPU give nothing.

    A file that ends the process that reads it is reported, and the others are still checked.

    Args:
        paths: the files.
        target: narrows product-limited rules.
        environ: environment variables to judge with; None: they are not looked at.
        on_host: look at the file system.
        processes: how many processes may share the work; 1: none but this.
        named: those that somebody named: that such a script cannot be parsed is reported, though
            it names nothing of the NPU.
        progress: called with the number of files that were just looked at.
    """
    works = [
        _Work(tuple(paths[start : start + _CHUNK]), target, environ, on_host, named)
        for start in range(0, len(paths), _CHUNK)
    ]
    shared = processes > 1 and len(paths) >= _WORTH_SHARING and (os.cpu_count() or 1) > 1
    for results in _check_shared(works, processes) if shared else map(_check, works):
        if progress is not None:
            progress(results.files)
        yield from results.checked


class _Results(NamedTuple):
    files: int
    checked: List[Checked]


def _check(work: _Work) -> _Results:
    """Check some scripts in this process."""
    with remembering():
        found = [_check_one(path, work) for path in work.paths]
    return _Results(len(found), [checked for checked in found if checked is not None])


def _check_one(path: str, work: _Work) -> Optional[Checked]:
    """Check one script; None for one that cannot matter, which is not even parsed."""
    try:
        with guarded(path):
            return _checked(path, work)
    except NpuConfigError as error:
        return Checked(path, tuple(error.diagnostics), skipped=True)


def _checked(path: str, work: _Work) -> Optional[Checked]:
    data = _load(path)
    if isinstance(data, Diagnostic):
        return Checked(path, (data,), skipped=True)
    matters = may_matter(data)
    if not matters and path not in work.named:
        return None
    with without_collector():
        checked = _judged(path, data, matters, work)
        gc.collect(0)  # what a script leaves behind, once
    return checked


def _judged(path: str, data: bytes, matters: bool, work: _Work) -> Optional[Checked]:
    reading = read(data, path)
    if not matters and not reading.skipped:
        return None
    found = tuple(reading.judge(work.target, work.environ, work.on_host))
    reading.forget()
    text = reading.text if found else None
    return Checked(path, found, text, reading.encoding, reading.skipped)


def _load(path: str) -> Union[bytes, Diagnostic]:
    """The content of a file in one read, or why there is none."""
    try:
        with open(path, "rb", buffering=0, opener=reading) as stream:
            status = os.fstat(stream.fileno())
            if stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST:
                return stream.read() or b""
    except (OSError, ValueError):
        pass
    return load(path, LARGEST)


def _check_shared(works: Sequence[_Work], processes: int) -> Iterator[_Results]:
    done = 0
    try:
        with concurrent.futures.ProcessPoolExecutor(processes) as pool:
            for results in pool.map(_check, works):
                done += 1
                yield results
    except BrokenProcessPool:
        for work in works[done:]:
            for path in work.paths:
                yield _check_apart(work._replace(paths=(path,)))
    except (OSError, NotImplementedError):
        yield from map(_check, works[done:])


def _check_apart(work: _Work) -> _Results:
    """Check one script in a process of its own, which may end."""
    try:
        with concurrent.futures.ProcessPoolExecutor(1) as pool:
            return pool.submit(_check, work).result()
    except BrokenProcessPool:
        finding = NOT_PYTHON.diagnostic(
            "the process that read this script ended; it is not checked", Place(work.paths[0])
        )
        return _Results(1, [Checked(work.paths[0], (finding,), skipped=True)])
