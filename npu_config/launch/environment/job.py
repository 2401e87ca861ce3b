"""The environment of each process of a job, and the ways to hand it over.

A :class:`Job` knows its processes and the exact variables of each: those of a rank table
(:func:`table_job`) or those of a job without one (:func:`chief_job`), never both.  What must
not be set beside them is taken out of whatever they are added to.
"""

import shlex
from typing import Dict, Iterable, List, Mapping, Optional, Tuple, Union

import attr

from npu_config.core.diagnostics import Report
from npu_config.core.message import listed, phrase
from npu_config.core.target import ANY_TARGET, Target
from npu_config.core.versions import Product
from npu_config.launch.environment.check import check_environment
from npu_config.launch.environment.dotenv import NAME, render_dotenv
from npu_config.launch.environment.variables import CM_NAMES, RANK_TABLE_NAMES
from npu_config.rank_table.building import Devices, device_list, refusal
from npu_config.rank_table.dialects import highest_device
from npu_config.rank_table.judging import check_document
from npu_config.rank_table.model import (
    AnyRankTable,
    GroupTable,
    Process,
    to_document,
)
from npu_config.sidefiles.format import refuse


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Job:
    """The processes of a job and what their environments have in common.

    Args:
        processes: every process, in rank order.
        common: the variables that all processes have.
        absent: the variables that must not be set.
        chief: whether this is a job without a rank table.
        worker_ips: server to its address, for a job without a rank table.
    """

    processes: Tuple[Process, ...]
    common: Mapping[str, str]
    absent: Tuple[str, ...]
    chief: bool = False
    worker_ips: Mapping[str, str] = attr.ib(factory=dict)

    @property
    def servers(self) -> Tuple[Optional[str], ...]:
        """The servers in order; a version 2.0 table names none."""
        return tuple(dict.fromkeys(process.server_id for process in self.processes))

    def of_server(self, server_id: Optional[str]) -> Tuple[Process, ...]:
        """The processes of one server.

        Raises:
            NpuConfigError: the job has no such server.
        """
        mine = tuple(one for one in self.processes if one.server_id == server_id)
        if not mine:
            names = [name for name in self.servers if name is not None]
            raise refusal(
                phrase('the job has no server "{}"', server_id),
                phrase(
                    "choose one of: {}",
                    listed(names[:8]) or phrase("(the table names no servers)"),
                ),
            )
        return mine

    def process(self, rank_id: int) -> Process:
        """The process of a rank.

        Raises:
            NpuConfigError: the job has no such rank.
        """
        for one in self.processes:
            if one.rank_id == rank_id:
                return one
        raise refusal(
            phrase("the job has no rank {}", rank_id),
            phrase("choose a rank from 0 to {}", len(self.processes) - 1),
        )

    def variables(self, process: Process) -> Dict[str, str]:
        """Exactly the variables that a process is to have, by name."""
        found = dict(self.common)
        if self.chief:
            found["CM_WORKER_IP"] = self.worker_ips[process.server_id or ""]
        else:
            found["RANK_ID"] = str(process.rank_id)
        if process.pod_name is not None:
            found["POD_NAME"] = process.pod_name
        found["ASCEND_DEVICE_ID"] = str(process.device_id)
        return found


def table_job(
    table: AnyRankTable,
    path: str,
    job_id: str,
    extra: Optional[Mapping[str, str]] = None,
    target: Target = ANY_TARGET,
) -> Job:
    """The job that a rank table describes.

    Args:
        table: the rank table.
        path: where it will stand on every server.
        job_id: the name of the job.
        extra: further variables for every process.
        target: the product that the environment is checked for.

    Raises:
        NpuConfigError: the table or the variables would be wrong.
    """
    refuse(check_document(to_document(table), target))
    common = {
        "JOB_ID": job_id,
        "RANK_TABLE_FILE": path,
        "RANK_SIZE": str(table.rank_size),
    }
    pods = () if isinstance(table, GroupTable) else ("POD_NAME",)
    processes = tuple(sorted(table.processes, key=lambda process: process.rank_id))
    return _checked(Job(processes, common, (*CM_NAMES, *pods)), extra, target)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Worker:
    """One server of a job without a rank table.

    Args:
        worker_ip: the address of its interface towards the master.
        devices: how many devices it uses (0 to n-1), or which.
        server_id: its name; None: its address.
    """

    worker_ip: str
    devices: Devices = 8
    server_id: Optional[str] = None


def chief_job(
    workers: Iterable[Union[str, Worker]],
    job_id: str,
    port: int = 60001,
    chief_device: Optional[int] = None,
    devices: Devices = 8,
    extra: Optional[Mapping[str, str]] = None,
    product: Union[Product, str, None] = None,
) -> Job:
    """A job without a rank table (atlas_training, atlas_a2).

    Args:
        workers: the servers, the master first: their addresses, or more about them.
        job_id: the name of the job.
        port: the port that the master listens on, 0 to 65520; it must be free.
        chief_device: the device of the master that collects what is known of the cluster;
            None: its first.
        devices: how many devices each server uses (0 to n-1), or which, for the servers that
            are given by their address.
        extra: further variables for every process.
        product: what the environment is checked for.

    Raises:
        NpuConfigError: the variables would be wrong.
        ValueError: for an unknown product, naming the legal ones.
    """
    servers = [Worker(one, devices) if isinstance(one, str) else one for one in workers]
    if not servers:
        raise refusal("a job needs at least one server", "pass the address of the master")
    processes: List[Process] = []
    worker_ips: Dict[str, str] = {}
    for server in servers:
        name = server.server_id or server.worker_ip
        if name in worker_ips:
            raise refusal(
                phrase('two servers have the name "{}"', name),
                "use a different name for each server",
            )
        worker_ips[name] = server.worker_ip
        processes.extend(
            Process(rank, device, name)
            for rank, device in enumerate(device_list(server.devices), len(processes))
        )
    target = Target.named(product)
    highest = highest_device(target.products)
    beyond = [one.device_id for one in processes if one.device_id > highest]
    if beyond:
        raise refusal(
            phrase(
                "device {} does not exist: the devices of a server are 0 to {}", beyond[0], highest
            ),
            "use fewer devices, or other device ids",
        )
    first = device_list(servers[0].devices)
    if chief_device is None:
        chief_device = first[0] if first else 0
    elif chief_device not in first:
        raise refusal(
            phrase("the master does not use device {}", chief_device),
            phrase("choose one of: {}", listed(map(str, first))),
        )
    common = {
        "JOB_ID": job_id,
        "CM_CHIEF_IP": servers[0].worker_ip,
        "CM_CHIEF_PORT": str(port),
        "CM_CHIEF_DEVICE": str(chief_device),
        "CM_WORKER_SIZE": str(len(processes)),
    }
    job = Job(tuple(processes), common, (*RANK_TABLE_NAMES, "POD_NAME"), True, worker_ips)
    return _checked(job, extra, target)


def _checked(
    job: Job,
    extra: Optional[Mapping[str, str]],
    target: Target,
) -> Job:
    """The job with further variables, when the environments of its processes are right."""
    for name, text in (extra or {}).items():
        if NAME.match(name) is None or "\0" in text:
            raise refusal(phrase('"{}" is not a variable that can be set', name))
        if name in job.absent:
            raise refusal(
                phrase("{} must not be set in this job", name), "remove it from the variables"
            )
        own = {*job.common, "RANK_ID", "ASCEND_DEVICE_ID", "CM_WORKER_IP"}
        if name in own:
            raise refusal(phrase("{} is set by npu_config itself", name), "remove it")
    job = attr.evolve(job, common={**job.common, **(extra or {})})
    if not job.processes:
        raise refusal("the job has no processes", "list at least one device")
    refuse(judge(job, target))
    return job


def judge(job: Job, target: Target = ANY_TARGET) -> Report:
    """What there is to say about the environments of a job: those of one process of each server.

    Args:
        job: the job.
        target: the product that the environments are for.
    """
    first = {job.worker_ips.get(one.server_id or ""): one for one in reversed(job.processes)}
    environs = [job.variables(process) for process in first.values()]
    found = [each for environ in environs for each in check_environment(environ, target)]
    return Report(dict.fromkeys(found))


def process_environment(
    job: Job, process: Process, base: Optional[Mapping[str, str]] = None
) -> Dict[str, str]:
    """The environment of a process, for ``subprocess``.

    Args:
        job: the job.
        process: one of its processes.
        base: what it starts from, e.g. ``os.environ``; variables that must not be set are left
            out of it.
    """
    found = {name: text for name, text in (base or {}).items() if name not in job.absent}
    found.update(job.variables(process))
    return found


def export_lines(job: Job, process: Process) -> str:
    """The environment of a process as lines for a shell, to be sourced."""
    lines = [phrase("unset {}", " ".join(job.absent))]
    lines.extend(
        phrase("export {}={}", name, shlex.quote(text))
        for name, text in job.variables(process).items()
    )
    return "\n".join(lines) + "\n"


def dotenv_text(job: Job, process: Process) -> str:
    """The environment of a process as a file of variables (``.env``)."""
    return render_dotenv(job.variables(process), job.absent)
