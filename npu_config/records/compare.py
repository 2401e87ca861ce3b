"""How two jobs differ: effective values, side files, environment, and what is around them."""

import os
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple

from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.message import phrase
from npu_config.core.settings import Settings
from npu_config.core.target import ANY_TARGET, Target
from npu_config.readers import Reading, read
from npu_config.readers.record_file import document, record_not_read
from npu_config.records.document import target_of
from npu_config.records.writing import name_of
from npu_config.rules.origin import Origin, effective

__all__ = ["PARTS", "JobComparison", "Difference", "ComparedJob", "compare", "job_of", "record_in"]

PARTS = (
    "options",
    "side_files",
    "environment",
    "rank_table",
    "target",
    "adapter",
    "tensorflow",
    "script",
)
"""What is compared, in this order; when a job ran and how it ended is not."""


class ComparedJob(NamedTuple):
    """One side of a comparison.

    Args:
        path: the record, or the configuration.
        reading: what was read of it.
        parts: those of the record; the options alone of a configuration.
        is_record: whether it is one.
    """

    path: str
    reading: Reading
    parts: Mapping[str, Any]
    is_record: bool

    @property
    def target(self) -> Optional[Target]:
        """What the job is for."""
        return self.reading.target


class Difference(NamedTuple):
    """Something that the two jobs have differently; None where one has none of it."""

    part: str
    name: Optional[str]
    old: Any
    new: Any
    old_origin: Optional[Origin] = None
    new_origin: Optional[Origin] = None

    def to_dict(self) -> Dict[str, Any]:
        """The object of the JSON output."""
        found = self._asdict()
        for key in ("old_origin", "new_origin"):
            found[key] = None if found[key] is None else found[key]._asdict()
        return found


class JobComparison(NamedTuple):
    """What differs, how many things are equal, and the parts that only one side tells of."""

    differences: Tuple[Difference, ...]
    equal: Mapping[str, int]
    not_compared: Tuple[str, ...]


def record_in(folder: str) -> str:
    """The path of the record of rank 0 in a folder, which may not be there."""
    return os.path.join(folder, name_of(0))


def job_of(
    path: str, content: Optional[bytes] = None, as_kind: Optional[str] = None
) -> ComparedJob:
    """Read a record, a folder that holds one, or a configuration."""
    if os.path.isdir(path):
        path = record_in(path)
        if not os.path.lexists(path):
            message = phrase("the folder contains no record of a job ({})", name_of(0))
            help = phrase("pass a folder that contains {}, or a configuration", name_of(0))
            place = Place(os.path.dirname(path))
            found = record_not_read.diagnostic(message, place, help=help)
            return ComparedJob(
                path, Reading("", path, diagnostics=(found,), unchecked="no record"), {}, True
            )
    reading = read(path, as_kind, content)
    if reading.kind != "record":
        return ComparedJob(path, reading, {}, False)
    _, parts = document(reading.text or "", path)
    return ComparedJob(path, reading, parts, True)


def faults_of(job: ComparedJob) -> List[Diagnostic]:
    """What keeps a job from being compared as a whole."""
    return [each for each in job.reading.diagnostics if each.severity.rank == 2]


def compare(old: ComparedJob, new: ComparedJob) -> JobComparison:
    """How two jobs differ."""
    found: List[Difference] = []
    equal: Dict[str, int] = {}
    left: List[str] = []
    for part in PARTS:
        if part == "options":
            pairs: Iterator[Difference] = _options(old, new)
        elif not all(
            part in job.parts or (part == "target" and not job.is_record) for job in (old, new)
        ):
            left.append(part)
            continue
        elif part in ("environment", "side_files"):
            pairs = _named(part, old.parts[part], new.parts[part])
        elif part == "target":
            one, other = (target_of(job.target or ANY_TARGET) for job in (old, new))
            pairs = iter((Difference(part, None, one, other),))
        else:
            pairs = iter((Difference(part, None, old.parts[part], new.parts[part]),))
        count = 0
        for each in pairs:
            if _is_equal(each):
                count += each.name is not None or each.old is not None
            else:
                found.append(each)
        equal[part] = count
    return JobComparison(tuple(found), equal, tuple(left))


def _options(old: ComparedJob, new: ComparedJob) -> Iterator[Difference]:
    before, after = _effective(old), _effective(new)
    for name in dict.fromkeys((*before, *after)):
        one, other = before.get(name, _NONE), after.get(name, _NONE)
        yield Difference("options", name, one[0], other[0], one[1], other[1])


_NONE: Tuple[Any, Optional[Origin]] = (None, None)


def _effective(job: ComparedJob) -> Dict[str, Tuple[Any, Optional[Origin]]]:
    """Every option with its value and origin; the defaults of a record are those it tells of."""
    settings = job.reading.settings[0] if job.reading.settings else Settings({})
    found: Dict[str, Tuple[Any, Optional[Origin]]] = {}
    recorded = job.parts.get("defaults") if job.is_record else None
    for each in effective(settings._replace(session=None), job.target, every=True):
        if each.is_default and recorded is not None:
            if each.option in recorded:
                found[each.option] = recorded[each.option], each.origin
        elif not each.is_default or each.value is not None:
            found[each.option] = each.value, each.origin
    for name, setting in settings.entries.items():
        if name not in found:
            found[name] = setting.value, Origin.of({"kind": "record"})
    return found


def _named(part: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    for name in dict.fromkeys((*old, *new)):
        yield Difference(part, name, old.get(name), new.get(name))


def _is_equal(found: Difference) -> bool:
    """Files are compared by their content, not by where they lie."""
    old, new = found.old, found.new
    if found.part in ("side_files", "rank_table", "script"):
        digests = [each.get("sha256") if isinstance(each, dict) else each for each in (old, new)]
        return bool(digests[0] == digests[1]) and (old is None) == (new is None)
    return type(old) is type(new) and bool(old == new)
