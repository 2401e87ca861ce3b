"""What runs in each pod of a Kubernetes job: waits for the rank table, then starts the ranks.

The text of this module is put into the job, so it uses the standard library only and imports
nothing of this package.  The cluster's operator writes the rank table into a ConfigMap once every
pod has its devices; this pod is the server whose ``server_id`` is the address of its host.
"""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

Table = Dict[str, Any]


def read_table(path: str) -> Optional[Table]:
    """The table when it is complete, else None: the operator is still writing it."""
    try:
        with open(path, encoding="utf-8") as stream:
            table = json.load(stream)
    except (OSError, ValueError, RecursionError):
        return None
    return table if isinstance(table, dict) and table.get("status") == "completed" else None


def wait_for_table(path: str, seconds: float) -> Optional[Table]:
    """The complete table, or None when it does not come in time."""
    deadline = time.monotonic() + seconds
    while True:
        table = read_table(path)
        if table is not None or time.monotonic() > deadline:
            return table
        time.sleep(1)


def devices_of(table: Table, names: Set[str]) -> Tuple[List[Dict[str, Any]], int]:
    """The devices of this pod, and how many there are in all."""
    servers = _entries(table, "server_list")
    total = sum(len(_entries(server, "device")) for server in servers)
    for server in servers:
        if names & {str(server.get("server_id")), str(server.get("host_ip"))}:
            return _entries(server, "device"), total
    return [], total


def _entries(table: Table, key: str) -> List[Dict[str, Any]]:
    """The objects of a list in a table; empty when there is none."""
    found = table.get(key)
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def start(
    ranks: Dict[str, "subprocess.Popen[bytes]"],
    command: Sequence[str],
    path: str,
    devices: Sequence[Dict[str, Any]],
    total: int,
) -> None:
    """One process for each device, by rank, with its own environment."""
    for number, device in enumerate(devices):
        rank = str(device["rank_id"])
        environment = dict(
            os.environ,
            RANK_TABLE_FILE=path,
            RANK_SIZE=str(total),
            RANK_ID=rank,
            ASCEND_DEVICE_ID=str(number),
        )
        ranks[rank] = subprocess.Popen(command, env=environment)


def wait(ranks: Dict[str, "subprocess.Popen[bytes]"], ends: List[int], grace: float) -> int:
    """Wait for all: TERM for the others once there is a reason to end, then KILL.

    Args:
        ranks: the processes; those that have ended leave it.
        ends: codes that are reasons to end; that of the first rank that fails is added.
        grace: seconds from TERM to KILL.

    Returns:
        The first reason, or 0.
    """
    deadline = None
    while ranks:
        for rank, child in list(ranks.items()):
            code = child.poll()
            if code is not None:
                del ranks[rank]
            if code:
                ends.append(code)
                how = "failed with code {}" if code > 0 else "was terminated by signal {}"
                say("rank {} {}".format(rank, how.format(abs(code))))
        if ends and ranks:
            if deadline is None:
                deadline = time.monotonic() + grace
                say("stopping rank {}".format(", ".join(ranks)))
                end(ranks, signal.SIGTERM)
            elif time.monotonic() > deadline:
                end(ranks, signal.SIGKILL)
        time.sleep(0.2)
    return ends[0] if ends else 0


def end(ranks: Dict[str, "subprocess.Popen[bytes]"], number: int) -> None:
    """Send a signal to all that still run."""
    for child in ranks.values():
        child.send_signal(number)


def say(text: str) -> None:
    """A line for the log of the pod."""
    print("npu-pod: " + text, file=sys.stderr)


def main(command: Sequence[str]) -> int:
    """Run the command as every rank of this pod; returns its exit code."""
    path = os.environ["NPU_RANK_TABLE"]
    names = {os.environ[name] for name in ("NPU_HOST_IP", "NPU_NODE") if os.environ.get(name)}
    table = wait_for_table(path, float(os.environ.get("NPU_TABLE_SECONDS", "600")))
    if table is None:
        say("{} is not complete; does the operator run?".format(path))
        return 2
    devices, total = devices_of(table, names)
    if not devices:
        say("{} does not name {}".format(path, sorted(names)))
        return 2
    ranks: Dict[str, subprocess.Popen[bytes]] = {}
    ends: List[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda got, frame: ends.append(-got))
    try:
        start(ranks, command, path, devices, total)
    except OSError as error:
        say("{} cannot be started: {}".format(command[0], error.strerror))
        ends.append(127 if isinstance(error, FileNotFoundError) else 126)
    code = wait(ranks, ends, float(os.environ.get("NPU_LAUNCH_GRACE", "10")))
    return 128 - code if code < 0 else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
