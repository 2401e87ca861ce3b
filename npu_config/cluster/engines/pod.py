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
    children: List["subprocess.Popen[bytes]"],
    command: Sequence[str],
    path: str,
    devices: Sequence[Dict[str, Any]],
    total: int,
) -> None:
    """One process for each device, with its own environment."""
    for number, device in enumerate(devices):
        environment = dict(
            os.environ,
            RANK_TABLE_FILE=path,
            RANK_SIZE=str(total),
            RANK_ID=str(device["rank_id"]),
            ASCEND_DEVICE_ID=str(number),
        )
        children.append(subprocess.Popen(command, env=environment))


def wait(children: Sequence["subprocess.Popen[bytes]"]) -> int:
    """The first code that is not 0; then the others are ended."""
    worst = 0
    while any(child.poll() is None for child in children):
        for child in children:
            if child.poll() not in (None, 0) and not worst:
                worst = child.returncode
                for other in children:
                    if other.poll() is None:
                        other.terminate()
        time.sleep(0.2)
    codes = [child.returncode for child in children if child.returncode]
    return worst or (codes[0] if codes else 0)


def main(command: Sequence[str]) -> int:
    """Run the command as every rank of this pod; returns its exit code."""
    path = os.environ["NPU_RANK_TABLE"]
    names = {os.environ[name] for name in ("NPU_HOST_IP", "NPU_NODE") if os.environ.get(name)}
    table = wait_for_table(path, float(os.environ.get("NPU_TABLE_SECONDS", "600")))
    if table is None:
        print("npu-pod: {} is not complete; does the operator run?".format(path), file=sys.stderr)
        return 2
    devices, total = devices_of(table, names)
    if not devices:
        print("npu-pod: {} does not name {}".format(path, sorted(names)), file=sys.stderr)
        return 2
    children: List[subprocess.Popen[bytes]] = []

    def stop(number: int, frame: Any) -> None:
        for child in children:
            child.send_signal(number)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    start(children, command, path, devices, total)
    code = wait(children)
    return 128 - code if code < 0 else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
