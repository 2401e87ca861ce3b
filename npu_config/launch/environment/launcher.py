"""Bash scripts that start the processes of one server and look after them.

A script starts one process for each device, each with its own environment and log file, and
waits for all.  When one ends badly, or the script gets a signal, it says which and how, ends
the others, and passes the code on.
"""

import os
import re
import shlex
from typing import Dict, List, Optional, Sequence, Tuple

from npu_config.core.files import PathLike, write_atomic
from npu_config.core.terminal import printable
from npu_config.launch.environment.job import Job
from npu_config.rank_table.building import refusal
from npu_config.rank_table.model import Process

_HEAD = """\
#!/usr/bin/env bash
# {what}
# Written by npu-config.
# Usage: bash {name} {usage}
# Log files: $NPU_LAUNCH_LOGS, else npu_logs/<time>_<process> in the current directory.
# When a process fails the others get TERM, and KILL after $NPU_LAUNCH_GRACE (10) seconds.
set -u
trap 'exit 130' INT # bash forgets an INT without a trap while it waits for a command

command=({command})
if [ "$#" -gt 0 ]; then command=("$@"); fi
if [ "${{#command[@]}}" -eq 0 ]; then
  echo "usage: bash $0 COMMAND [ARGUMENT...]" >&2
  exit 2
fi

ranks=({ranks})
devices=({devices})
{pods}
environment() {{ # number of a process: its environment
  unset {absent}
{exports}
}}
{sources}{table}"""

# No command substitution below: bash may lose a signal that comes while it makes one.
_BODY = r"""
printf -v logs 'npu_logs/%(%Y%m%d_%H%M%S)T_%d' -1 $$
logs=${NPU_LAUNCH_LOGS:-$logs}
grace=${NPU_LAUNCH_GRACE:-10}
if ! mkdir -p -- "$logs"; then
  echo "npu-launch: no directory for log files: $logs" >&2
  exit 2
fi

pids=()
groups=()
status=0
killed=
deadline=
signals=0
names=([1]=HUP [2]=INT [3]=QUIT [4]=ILL [6]=ABRT [7]=BUS [8]=FPE [9]=KILL
  [11]=SEGV [13]=PIPE [15]=TERM)

exec 3>&2 2>/dev/null # bash would report killed processes in its own words
say() { printf 'npu-launch: %s\n' "$*" >&3; }

signal_all() { # name of a signal: to every process and its children
  local group
  for group in ${groups[@]+"${groups[@]}"}; do kill "-$1" -- "-$group"; done
}

stop() { # code to end with, unless there is one already
  [ "$status" -ne 0 ] || status=$1
  [ -z "$deadline" ] || return 0
  deadline=$((SECONDS + grace + 1))
  signal_all TERM
}

on_signal() { # name and number of a signal
  signals=$((signals + 1))
  if [ -n "$deadline" ]; then
    say "got SIG$1 again; killing"
    deadline=$SECONDS
  else
    say "got SIG$1; stopping"
  fi
  stop $((128 + $2))
}
trap 'on_signal HUP 1' HUP
trap 'on_signal INT 2' INT
trap 'on_signal TERM 15' TERM
trap 'signal_all KILL' EXIT

report_end() { # number of a process, its code
  local who="rank ${ranks[$1]} (device ${devices[$1]}, process ${groups[$1]})"
  local how="failed with code $2"
  [ "$2" -le 128 ] || [ -z "${names[$2 - 128]-}" ] || how="was ended by SIG${names[$2 - 128]}"
  [ "$2" -eq 0 ] || say "$who $how; log: $logs/rank_${ranks[$1]}.log"
}

set -m # a process group for each process
for i in "${!ranks[@]}"; do
  [ -z "$deadline" ] || break
  (
    trap - HUP INT TERM EXIT
    environment "$i"
    exec "${command[@]}"
  ) 2>&3 </dev/null >>"$logs/rank_${ranks[i]}.log" 2>&1 3>&- &
  pids[i]=$!
  groups[i]=$!
  say "rank ${ranks[i]} on device ${devices[i]}: process $!, log: $logs/rank_${ranks[i]}.log"
done
set +m
[ -z "$deadline" ] || signal_all TERM

while [ "${#pids[@]}" -gt 0 ]; do
  for i in "${!pids[@]}"; do
    kill -0 "${pids[i]}" && continue
    before=
    while [ "$before" != "$signals" ]; do # a signal interrupts wait
      before=$signals
      wait "${pids[i]}"
      code=$?
    done
    unset "pids[$i]"
    report_end "$i" "$code"
    kill -0 -- "-${groups[i]}" || unset "groups[$i]" # the number may become that of others
    if [ "$code" -ne 0 ]; then
      if [ -z "$deadline" ] && [ "${#pids[@]}" -gt 0 ]; then say "stopping the others"; fi
      stop "$code"
    fi
  done
  if [ -n "$deadline" ] && [ -z "$killed" ] && [ "$SECONDS" -ge "$deadline" ]; then
    killed=1
    signal_all KILL
  fi
  [ "${#pids[@]}" -eq 0 ] || sleep 0.1
done

if [ "$status" -eq 0 ]; then
  trap - EXIT
  say "all ${#ranks[@]} processes have finished"
fi
exit "$status"
"""


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
    head = _HEAD.format(
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
        table=_TABLE if "RANK_TABLE_FILE" in first else "",
    )
    return head + _BODY


_TABLE = """
(
  environment 0
  if [ ! -r "$RANK_TABLE_FILE" ]; then
    echo "npu-launch: the rank table cannot be read: $RANK_TABLE_FILE" >&2
    exit 2
  fi
) || exit 2
"""


def sourcing(paths: Sequence[str]) -> str:
    """Lines for bash that source scripts, and end with code 2 when one cannot be read."""
    return "".join(_SOURCE.format(shlex.quote(path)) for path in paths)


_SOURCE = """
if [ ! -r {0} ]; then
  echo "npu-launch: cannot be read: "{0} >&2
  exit 2
fi
set +u
. {0}
set -u
"""


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
