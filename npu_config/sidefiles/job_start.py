"""The job start file of NPUEstimator (``job_start_file``): device, rank table and rank size.

A file that cannot be read is no error to the estimator: it then goes by JOB_ID,
RANK_TABLE_FILE, RANK_ID and the like.  The file is parsed once per process.

Source: tf_adapter/python/npu_bridge/estimator/npu/npu_common.py:130-220.
"""

from typing import Any, Dict, List, Optional, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, Severity
from npu_config.core.rule import declare
from npu_config.core.target import ANY_TARGET, Target
from npu_config.sidefiles._shape import Shape, is_wrong, refuse
from npu_config.sidefiles.format import Format, Parsed, Sample, conclude
from npu_config.text import json as _json
from npu_config.text.source import ANYWHERE, Path, Places
from npu_config.text.words import did_you_mean

_REQUIRED = ("device_info", "rank_table_file", "rank_size")
_KEYS = (*_REQUIRED, "local_checkpoint_dir")

STRUCTURE = declare(
    "NPU768",
    "job-start-structure",
    Severity.ERROR,
    """
    The job start file lacks a key, or has a value of the wrong kind.

    The estimator reads `device_info.Index` (an integer from 0), `rank_table_file` (text),
    `rank_size` (an integer from 1) and, if it is there, `local_checkpoint_dir` (text).  With
    an unusable file it goes by the environment, and without JOB_ID there it raises
    ValueError "Load job info failed".

    Wrong: `{"device_info": {"Index": "0"}, "rank_size": 0}`

    Right: `{"device_info": {"Index": 0}, "rank_table_file": "/job/ranks.json", "rank_size": 8}`
    """,
    facts=("estimator-job-id",),
    source=("tf_adapter/python/npu_bridge/estimator/npu/npu_common.py:130-220",),
)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class JobStart:
    """The content of a job start file.

    Args:
        device_index: index of the device, from 0.
        rank_table_file: path of the rank table.
        rank_size: number of ranks, from 1.
        local_checkpoint_dir: directory for checkpoints of this process.

    Raises:
        NpuConfigError: with everything that is wrong.
    """

    device_index: int
    rank_table_file: str
    rank_size: int
    local_checkpoint_dir: Optional[str] = None

    def __attrs_post_init__(self) -> None:
        refuse(_faults(_plain(self), ANYWHERE, True))

    @classmethod
    def of(
        cls,
        device_index: int,
        rank_table_file: str,
        rank_size: int,
        local_checkpoint_dir: Optional[str] = None,
    ) -> "JobStart":
        """The file with these values; see the class.

        Raises:
            NpuConfigError: with everything that is wrong.
        """
        return cls(device_index, rank_table_file, rank_size, local_checkpoint_dir)


def _plain(model: JobStart) -> Dict[str, Any]:
    plain: Dict[str, Any] = {
        "device_info": {"Index": model.device_index},
        "rank_table_file": model.rank_table_file,
        "rank_size": model.rank_size,
    }
    if model.local_checkpoint_dir is not None:
        plain["local_checkpoint_dir"] = model.local_checkpoint_dir
    return plain


def _faults(value: Any, places: Places, complete: bool) -> List[Diagnostic]:
    """What is wrong; what is missing only where all of the text was understood."""
    shape = Shape(STRUCTURE, places)
    top = shape.object(value, (), "the file")
    if isinstance(value, dict):
        _required(shape, top, (), _REQUIRED, complete)
    if "device_info" in top:
        info = shape.object(top["device_info"], ("device_info",), '"device_info"')
        if isinstance(top["device_info"], dict):
            _required(shape, info, ("device_info",), ("Index",), complete)
        _integer(shape, info, ("device_info", "Index"), 0)
    _integer(shape, top, ("rank_size",), 1)
    for key in ("rank_table_file", "local_checkpoint_dir"):
        if key in top:
            shape.text(top[key], (key,), '"{}"'.format(key))
    return shape.found


def _required(
    shape: Shape, value: Dict[str, Any], path: Path, keys: Tuple[str, ...], complete: bool
) -> None:
    others = [str(key) for key in value if key not in (*_KEYS, "Index")]
    for key in keys if complete else ():
        if key not in value:
            typos = [other for other in others if did_you_mean(other, (key,))]
            help = 'rename "{}"'.format(typos[0]) if typos else None
            shape.report('"{}" is missing'.format(key), shape.places.place(path), help)


def _integer(shape: Shape, value: Dict[str, Any], path: Path, least: int) -> None:
    name = path[-1]
    number = value.get(str(name), least)
    if number is _json.BROKEN:
        return
    if type(number) is not int:
        told = _json.kind_of(number)
    elif number < least:
        told = str(number)
    else:
        return
    message = '"{}" is {}; legal: an integer from {}'.format(name, told, least)
    shape.report(message, shape.places.place(path))


def parse(text: str, path: Optional[str] = None, target: Target = ANY_TARGET) -> Parsed[JobStart]:
    """Read a job start file.

    Args:
        text: anything.
        path: the file it came from.
        target: not needed here; no finding depends on it.
    """
    reading = _json.read(text, path)
    found = _faults(reading.value, reading, reading.complete)
    understood = reading.complete and not is_wrong(found)

    def build() -> JobStart:
        value = reading.value
        return JobStart(
            value["device_info"]["Index"],
            value["rank_table_file"],
            value["rank_size"],
            value.get("local_checkpoint_dir"),
        )

    return conclude(
        (*reading.diagnostics, *found), reading, build if understood else None, lambda _: ()
    )


def check(
    model: JobStart, target: Target = ANY_TARGET, places: Places = ANYWHERE
) -> Tuple[Diagnostic, ...]:
    """Nothing: a model that exists is right for every target."""
    return ()


def render(model: JobStart) -> str:
    """The canonical text of the file."""
    return _json.write(_plain(model))


def _looks_like(sample: Sample) -> bool:
    return any(key in sample.top for key in _KEYS)


FORMAT: Format[JobStart] = Format(
    name="job_start",
    title="job start file of NPUEstimator",
    default_name="job_start.json",
    options=("job_start_file",),
    parser=parse,
    render=render,
    looks_like=_looks_like,
)
load = FORMAT.load
save = FORMAT.save

__all__ = ["FORMAT", "JobStart", "check", "load", "parse", "render", "save"]
