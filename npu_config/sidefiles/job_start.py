"""The job start file of NPUEstimator (``job_start_file``): device, rank table and rank size.

A file that cannot be read is no error to the estimator: it then goes by JOB_ID,
RANK_TABLE_FILE, RANK_ID and the like.  The file is parsed once per process.

Source: tf_adapter/python/npu_bridge/estimator/npu/npu_common.py:130-220.
"""

from npu_config.catalogue.kinds import Int
from npu_config.core.diagnostics import Severity, declare
from npu_config.sidefiles.format import (
    JsonFormat,
    RawDocument,
    Sample,
    content,
    no_checks,
    raw_format,
)
from npu_config.sidefiles.schema.kinds import Key, LimitedText, Object, Schema
from npu_config.sidefiles.schema.reading import one_rule

_SOURCE = "tf_adapter/python/npu_bridge/estimator/npu/npu_common.py:130-220"


@declare(
    "NPU768",
    Severity.ERROR,
    facts=("estimator-job-id",),
    source=("tf_adapter/python/npu_bridge/estimator/npu/npu_common.py:130-220",),
    help='write e.g. {"device_info": {"Index": 0}, "rank_table_file": "/job/ranks.json", '
    '"rank_size": 8}',
)
def job_start_structure() -> None:
    """The job start file lacks a key, or a value has the wrong type.

    The estimator reads `device_info.Index` (an integer of at least 0), `rank_table_file` (text),
    `rank_size` (an integer of at least 1) and the optional `local_checkpoint_dir` (text).  If the
    file is unusable, the estimator uses the environment variables; if JOB_ID is not set either, it
    raises ValueError "Load job info failed".

    Wrong: `{"device_info": {"Index": "0"}, "rank_size": 0}`

    Right: `{"device_info": {"Index": 0}, "rank_table_file": "/job/ranks.json", "rank_size": 8}`
    """


_DEVICE = Schema({"Index": Key(Int(0), True, _SOURCE)})
JOB_START: JsonFormat[RawDocument] = JsonFormat(
    "the job start file",
    Schema(
        {
            "device_info": Key(Object(_DEVICE), True, _SOURCE),
            "rank_table_file": Key(LimitedText(0), True, _SOURCE),
            "rank_size": Key(Int(1), True, _SOURCE),
            "local_checkpoint_dir": Key(LimitedText(0), False, _SOURCE),
        }
    ),
    one_rule(job_start_structure),
    content,
)


def _looks_like(sample: Sample) -> bool:
    return sum(key in sample.top for key in JOB_START.schema.keys) > 1


FORMAT = raw_format(
    JOB_START,
    name="job_start",
    title="job start file of NPUEstimator",
    default_name="job_start.json",
    options=("job_start_file",),
    looks_like=_looks_like,
    marks="rank_table_file",
)
check = no_checks
parse, render, load, save = FORMAT.parse, FORMAT.render, FORMAT.load, FORMAT.save

__all__ = ["FORMAT", "check", "load", "parse", "render", "save"]
