"""Bash scripts that start the processes of one server and look after them.

A script starts one process for each device, each with its own environment and log file, and
waits for all.  When one ends badly, or the script gets a signal, it says which and how, ends
the others, and passes the code on.
"""

import os
import pkgutil
import re
import shlex
from typing import Dict, List, Optional, Sequence, Tuple

from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import printable
from npu_config.launch.environment.job import Job
from npu_config.rank_table.building import refusal
from npu_config.rank_table.model import Process
from npu_config.text.files import write_atomic
from npu_config.text.source import PathLike

_PART = lazy_pattern(r"@(\w+)@")


def filled_script(template: str, **parts: object) -> str:
    """A script of the folder ``scripts`` with each part in the place of its name (``@part@``)."""
    text = pkgutil.get_data(__package__, "scripts/{}.sh".format(template))
    assert text is not None
    return _PART.sub(lambda match: str(parts[match.group(1)]), text.decode("utf-8"))


def launcher_script(
    job: Job,
    processes: Sequence[Process],
    command: Sequence[str] = (),
    sources: Sequence[str] = (),
    name: str = "launch.sh",
) -> str:
    """The bash script that starts processes of one server.

    Args:
        job: the job.
        processes: those to start, e.g. ``job.of_server("node_0")``.
        command: what each process runs; arguments of the script replace it.
        sources: scripts that are sourced before, e.g. ``/usr/local/Ascend/cann/set_env.sh``.
        name: the name of the script, for its usage line.

    Raises:
        NpuConfigError: the ranks are certainly of several servers.
    """
    devices = [process.device_id for process in processes]
    if processes[0].server_id is None and len(set(devices)) != len(devices):
        raise refusal(
            "several ranks have the same device, so they are of several servers, which a table "
            "of version 2.0 does not name",
            "choose the ranks of one server",
        )
    first = dict(job.variables(processes[0]))
    own = {"RANK_ID": "${ranks[$1]}", "ASCEND_DEVICE_ID": "${devices[$1]}"}
    pods = [process.pod_name for process in processes]
    if pods[0] is not None:
        own["POD_NAME"] = "${pods[$1]}"
    exports = [
        '  export {}="{}"'.format(variable, own[variable])
        if variable in own
        else "  export {}={}".format(variable, shlex.quote(text))
        for variable, text in first.items()
    ]
    return filled_script(
        "launcher",
        what=_what(job, processes),
        name=printable(shlex.quote(name)),
        usage="[COMMAND [ARGUMENT...]]" if command else "COMMAND [ARGUMENT...]",
        command=" ".join(map(shlex.quote, command)),
        ranks=" ".join(str(process.rank_id) for process in processes),
        devices=" ".join(map(str, devices)),
        pods="pods=({})\n".format(" ".join(shlex.quote(pod or "") for pod in pods))
        if pods[0] is not None
        else "",
        absent=" ".join(job.absent),
        exports="\n".join(exports),
        sources=sourcing(sources),
        table=filled_script("launcher_table") if "RANK_TABLE_FILE" in first else "",
    )


def sourcing(paths: Sequence[str]) -> str:
    """Lines for bash that source scripts, and end with code 2 when one cannot be read."""
    return "".join(filled_script("source", path=shlex.quote(path)) for path in paths)


def _what(job: Job, processes: Sequence[Process]) -> str:
    ranks = [process.rank_id for process in processes]
    span = str(ranks[0]) if len(ranks) == 1 else "{}-{}".format(min(ranks), max(ranks))
    server = processes[0].server_id
    return "Rank{} {} of {:,}{}, one process for each device.".format(
        "" if len(ranks) == 1 else "s",
        span,
        len(job.processes),
        "" if server is None else " on server {}".format(printable(server)),
    )


def launchers(
    job: Job,
    command: Sequence[str] = (),
    sources: Sequence[str] = (),
    processes: Optional[Sequence[Process]] = None,
) -> Dict[str, str]:
    """One script for each server of a job: file name to text.

    A version 2.0 table names no servers: give it the ranks of one.

    Args:
        job: the job.
        command: what each process runs; arguments of a script replace it.
        sources: scripts that are sourced before.
        processes: those to start; None: all of the job.
    """
    by_server: Dict[Optional[str], List[Process]] = {}
    for process in job.processes if processes is None else processes:
        by_server.setdefault(process.server_id, []).append(process)
    width = len(str(len(by_server) - 1))
    scripts = {}
    for number, (server, mine) in enumerate(by_server.items()):
        name = "launch.sh"
        if server is not None:
            safe = re.sub(r"[^A-Za-z0-9_.-]+", "_", server)[:64]
            name = "launch_{:0{}}_{}.sh".format(number, width, safe)
        scripts[name] = launcher_script(job, mine, command, sources, name)
    return scripts


def save_launchers(
    scripts: Dict[str, str], directory: PathLike, overwrite: bool = False
) -> Tuple[str, ...]:
    """Write scripts, executable; none is written when one of them exists already.

    Args:
        scripts: what :func:`launchers` made.
        directory: where to; it is made when it does not exist.
        overwrite: replace files that exist.

    Returns:
        The paths of the files.

    Raises:
        FileExistsError: a file exists and ``overwrite`` is False.
        OSError: a file cannot be written; it is not left half written.
    """
    paths = {name: os.path.join(os.fspath(directory), name) for name in scripts}
    for path in paths.values():
        if os.path.lexists(path) and not overwrite:
            message = "{} exists; it is not overwritten without being asked"
            raise FileExistsError(message.format(path))
    os.makedirs(directory, exist_ok=True)
    for name, path in paths.items():
        write_atomic(path, scripts[name], overwrite)
        os.chmod(path, os.stat(path).st_mode | 0o111)
    return tuple(paths.values())
