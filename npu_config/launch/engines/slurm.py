"""A batch script for Slurm: its tasks are the ranks, one for each device.

With a rank table every task finds its server by the addresses of the machine, and takes the rank
of its device from the table.  Without one the ranks are Slurm's own (``SLURM_PROCID``), and the
first node of the allocation is the master.
"""

import re
import shlex
from typing import Dict, List, Optional, Sequence

from npu_config.core.message import printable
from npu_config.launch.environment.job import Job
from npu_config.launch.environment.launcher import filled_script, sourcing
from npu_config.rank_table.building import refusal


def slurm_script(
    job: Job, command: Sequence[str], name: str = "job.sbatch", sources: Sequence[str] = ()
) -> str:
    """The batch script of a job.

    Args:
        job: the job; every server has the same number of devices, as ``--ntasks-per-node`` wants.
        command: what each rank runs.
        name: the name of the script, for its usage line.
        sources: scripts that are sourced on the first node; srun hands their variables to all.

    Raises:
        NpuConfigError: the servers differ in their number of devices, are not named, or there is
            no command.
    """
    if not command:
        raise refusal("a batch script needs the command of the ranks", "pass it after --")
    by_server: Dict[Optional[str], List[int]] = {}
    for number, process in enumerate(job.processes):
        by_server.setdefault(process.server_id, []).append(number)
    if None in by_server:
        raise refusal(
            "a rank table of version 2.0 names no servers, and Slurm starts by server",
            "convert the table, or start the ranks of each server with --to launcher",
        )
    counts = {len(numbers) for numbers in by_server.values()}
    if len(counts) != 1:
        raise refusal(
            "the servers have {} devices; Slurm starts the same number on each".format(
                " and ".join(map(str, sorted(counts)))
            ),
            "use the same number of devices on every server, or --to ssh",
        )
    common = {
        variable: text
        for variable, text in job.common.items()
        if not job.chief or variable not in ("CM_CHIEF_IP", "CM_WORKER_SIZE")
    }
    head = filled_script(
        "slurm",
        job_name=re.sub(r"[^A-Za-z0-9_.-]", "_", job.common["JOB_ID"]),
        nodes=len(by_server),
        devices=counts.pop(),
        name=printable(shlex.quote(name)),
        sources=sourcing(sources),
        absent=" ".join(job.absent),
        exports="\n".join(
            "export {}={}".format(variable, shlex.quote(text)) for variable, text in common.items()
        ),
    )
    words = " ".join(map(shlex.quote, command))
    if job.chief:
        return head + filled_script("slurm_chief", command=words)
    return head + filled_script("slurm_table", cases=_cases(job, by_server), command=words)


def _cases(job: Job, by_server: Dict[Optional[str], List[int]]) -> str:
    lines = []
    for server, numbers in by_server.items():
        processes = [job.processes[number] for number in numbers]
        lines.append(
            '      {}) ranks="{}" devices="{}" ;;'.format(
                _pattern(server or ""),
                " ".join(str(process.rank_id) for process in processes),
                " ".join(str(process.device_id) for process in processes),
            )
        )
    return "\n".join(lines)


def _pattern(text: str) -> str:
    """A text as a pattern of ``case`` inside single quotes: every character stands for itself."""
    return "".join(
        character if character.isalnum() or character in "._:-" else "?" for character in text
    )
