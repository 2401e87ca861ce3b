"""Many scripts at once: what cannot matter is never parsed, and some processes share the rest."""

import gc
import itertools
import os
from typing import (
    AbstractSet,
    Callable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.paths import reading
from npu_config.core.processes import in_processes, without_collector
from npu_config.core.target import Target
from npu_config.judging import ALONE, Around, Judgement, KnownRules, judge_reading
from npu_config.rules.reading import CANNOT_BE_READ, FAILED
from npu_config.script import read, script_not_parsed
from npu_config.script.neighbours import remembering
from npu_config.script.vocabulary import may_matter, unmigrated
from npu_config.text.source import guarded, load, state_of, unsaved_content

__all__ = ["judge_scripts", "judge_together"]

LARGEST = 64 * 1024 * 1024
PROCESSES = 4
"""At most: each needs memory of its own."""
_WORTH_SHARING = 40
_MANY = 400
"""Of so many files some are always worth sharing."""
_LARGEST_SHARE = 100


class _Share(NamedTuple):
    paths: Tuple[str, ...]
    around: Around
    named: AbstractSet[str]
    known_rules: Optional[KnownRules]
    default_of: Optional[Callable[[str], Optional[Target]]]


def judge_scripts(
    paths: Sequence[str],
    around: Around = ALONE,
    named: AbstractSet[str] = frozenset(),
    known_rules: Optional[KnownRules] = None,
    processes: int = PROCESSES,
    progress: Optional[Callable[[int], None]] = None,
    default_of: Optional[Callable[[str], Optional[Target]]] = None,
) -> Iterator[Judgement]:
    """Judge scripts, in order; those that name nothing of the NPU give nothing.

    Of them only those that train are told, as not checked.

    A file that ends the process that reads it is reported, and the others are still judged.

    Args:
        paths: the files.
        around: what they are judged for, and with which surroundings.
        named: those that somebody named: they are judged whatever they name.
        known_rules: as :func:`npu_config.judging.judge`.
        processes: how many processes may share the work; 1: none but this.
        progress: called with the number of files that were just looked at.
        default_of: gives the default target of each, in place of that of ``around``.
    """
    count = min(processes, os.cpu_count() or 1)
    shared = count > 1 and _are_worth_sharing(paths, named)
    size = min(len(paths) // (8 * count) + 1, _LARGEST_SHARE) if shared else _LARGEST_SHARE
    works = [
        _Share(tuple(paths[start : start + size]), around, named, known_rules, default_of)
        for start in range(0, len(paths), size)
    ]
    shares = in_processes(_check, works, count, _check_apart) if shared else map(_check, works)
    for results in shares:
        if progress is not None:
            progress(results.files)
        yield from results.checked


def _are_worth_sharing(paths: Sequence[str], named: AbstractSet[str]) -> bool:
    """True where judging the scripts takes longer than to start another process."""

    def is_judged(path: str) -> bool:
        try:
            with guarded(path):
                data = b"" if path in named else _load(path)
                return isinstance(data, bytes) and (path in named or may_matter(data))
        except NpuConfigError:  # it is told when the file is judged
            return True

    if not _WORTH_SHARING <= len(paths) < _MANY:
        return len(paths) >= _MANY
    judged = itertools.islice(filter(is_judged, paths), _WORTH_SHARING)
    return sum(1 for _ in judged) == _WORTH_SHARING


class _Results(NamedTuple):
    files: int
    checked: List[Judgement]


def _check(work: _Share) -> _Results:
    """Judge some scripts in this process."""
    with remembering():
        found = [_check_one(path, work) for path in work.paths]
    return _Results(len(found), [checked for checked in found if checked is not None])


def _check_one(path: str, work: _Share) -> Optional[Judgement]:
    """Judge one script; None for one that has nothing to be said of, which is not even parsed."""
    try:
        with guarded(path):
            return _checked(path, work)
    except NpuConfigError as error:
        return Judgement(path, tuple(error.diagnostics), unchecked=FAILED)


def _checked(path: str, work: _Share) -> Optional[Judgement]:
    data = _load(path)
    if isinstance(data, Diagnostic):
        return Judgement(path, (data,), unchecked=CANNOT_BE_READ)
    if path not in work.named and not may_matter(data):
        found = unmigrated(data, path, named=False)
        return None if found is None else Judgement(path, (), unchecked=found.why)
    with without_collector():
        judged = _judged(path, data, work)
        gc.collect(0)  # what a script leaves behind, once
    return judged


def _judged(path: str, data: bytes, work: _Share) -> Judgement:
    """What is said of one script, without what is only worth having in this process."""
    reading, around = read(data, path), work.around
    if work.default_of is not None:
        around = attr.evolve(around, default=work.default_of(path))
    found = judge_reading(reading, around, work.known_rules)
    reading.forget()
    return attr.evolve(found, reading=None, texts=found.texts if found.found else {})


def _load(path: str) -> Union[bytes, Diagnostic]:
    """The content of a file in one read, or why there is none."""
    held = unsaved_content(path)
    if held is not None:
        return held if len(held) <= LARGEST else load(path, LARGEST)
    try:
        with open(path, "rb", buffering=0, opener=reading) as stream:
            before = state_of(stream)
            if before is not None and before[0] <= LARGEST:
                data = stream.read() or b""
                if state_of(stream) == before:
                    return data
    except (OSError, ValueError):
        pass
    return load(path, LARGEST)


def _check_apart(work: _Share) -> Iterator[_Results]:
    """Check each script in a process of its own, which may end."""
    return (_check_alone(work._replace(paths=(path,))) for path in work.paths)


def _check_alone(work: _Share) -> _Results:
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor

    try:
        with ProcessPoolExecutor(1) as pool:
            return pool.submit(_check, work).result()
    except BrokenProcessPool:
        finding = script_not_parsed.diagnostic(
            "the process that read this script ended; the script is not checked",
            Place(work.paths[0]),
        )
        return _Results(1, [Judgement(work.paths[0], (finding,), unchecked=FAILED)])


def judge_together(
    judged: Sequence[Judgement],
    around: Around = ALONE,
    known_rules: Optional[KnownRules] = None,
) -> List[Judgement]:
    """The same judgements; a launch script that clashes with one before it is judged anew.

    Args:
        judged: what was said of each input alone.
        around: what they are judged for, and with which surroundings.
        known_rules: as :func:`npu_config.judging.judge`.
    """
    readings = [each.reading for each in judged if each.reading is not None]
    if sum(reading.kind == "shell" for reading in readings) < 2:
        return list(judged)
    from npu_config.launch.shell.check import conflicts
    from npu_config.readers.shell_file import ShellReading

    claims = [each.claims() for each in readings if isinstance(each, ShellReading)]
    found = conflicts(claims)
    paths = {each.path for each in found}
    return [
        each
        if each.reading is None or each.path not in paths
        else judge_reading(
            attr.evolve(
                each.reading,
                diagnostics=(
                    *each.reading.diagnostics,
                    *(one for one in found if one.path == each.path),
                ),
            ),
            around,
            known_rules,
        )
        for each in judged
    ]
