"""What NPUEstimator knows of the job: by a file, or by the environment."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, NamedTuple, Optional

from npu_config.core.files import reading
from npu_config.tf1 import ranks, vendor
from npu_config.tf1._lazy import rules


class JobInfo(NamedTuple):
    """The job that a process belongs to.

    Attributes:
        rank_id: the rank of this process.
        rank_size: the number of ranks.
        checkpoint_dir: where to warm start from, or None.
    """

    rank_id: int
    rank_size: int
    checkpoint_dir: Optional[str]


def read_job_info(job_start_file: str = "") -> JobInfo:
    """What a job start file says, or else the environment.

    Off the NPU host and with one rank, nothing has to be said.

    Args:
        job_start_file: path of a JSON file; empty for none.

    Raises:
        NpuConfigError: there is not a usable file, and ``JOB_ID`` is not set where it is needed.
    """
    environ = os.environ
    started = _read(job_start_file) if job_start_file else None
    if started is not None:
        device = started.get("device_info")
        index = device.get("Index", 0) if isinstance(device, dict) else 0
        size = started.get("rank_size", 1)
        if isinstance(index, int) and isinstance(size, int):
            return JobInfo(index, size, started.get("local_checkpoint_dir"))
    size = ranks.rank_size(environ)
    needed = bool(job_start_file) or vendor.is_available() or size > 1
    if needed and not environ.get("JOB_ID"):
        what = 'job_start_file "{}" cannot be used'.format(job_start_file)
        raise rules.estimator_argument.error(
            "{} and JOB_ID is not set".format(
                what if job_start_file else "no job_start_file is given"
            ),
            help="set JOB_ID in the environment, for instance JOB_ID=job1",
        )
    return JobInfo(ranks.rank_id(environ), size, environ.get("LOCAL_CHECKPOINT_DIR"))


def _read(path: str) -> Optional[Dict[str, Any]]:
    try:
        with open(path, encoding="utf-8", opener=reading) as stream:
            content = json.load(stream)
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None
