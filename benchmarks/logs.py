"""``npu-config log`` on large logs: time beside one search for ERROR in each line, and memory.

A synthetic plog of 200 MB (a fifth of the 1 GB of the budget) is read in a fresh process, and a
quarter of it; then eight ranks of 12 MB each.  The baseline counts the lines that hold ERROR.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from typing import List

from benchmarks._measure import Row

_MEGABYTES, _RANKS = 200, 8
_MODULES = ("GE", "FE", "RUNTIME", "HCCL", "ASCENDCL", "TEFUSION", "DRV")
_LEVELS = ("INFO",) * 9 + ("DEBUG",) * 3 + ("EVENT", "WARNING")
_FAILURE = (
    "[ERROR] RUNTIME({0},python3.7):2023-05-16-10:01:10.243.831 [npu_driver.cc:1100]20374 "
    "Alloc:[drv api] halMemAlloc failed:size=28285996544(Byte), drvRetCode=6, device_id={1}!\n"
)


def write_log(path: str, megabytes: int, pid: int = 20000, rank: int = 0) -> None:
    """A plog of so many MB that ends with a failure."""
    chance = random.Random(7)
    lines = [
        "[{}] {}({},python3.7):2023-05-16-10:{:02}:{:02}.{:03}.001 [graph_manager.cc:{}]20374 "
        "OptimizeSubGraph: text {} of gradients/conv{}/Conv2D_grad{}\n".format(
            chance.choice(_LEVELS),
            chance.choice(_MODULES),
            pid,
            number // 400,
            number // 7 % 60,
            number % 1000,
            number % 3000,
            number,
            number % 50,
            "x" * chance.randrange(60),
        )
        for number in range(20_000)
    ]
    body = "".join(lines).encode()
    with open(path, "wb") as stream:
        for _ in range(max(megabytes * 1_000_000 // len(body), 1)):
            stream.write(body)
        stream.write(_FAILURE.format(pid, rank).encode())


def measure(paths: List[str]) -> None:
    """Read logs in this process; prints what it took as JSON."""
    from npu_config.logs import read_logs

    start = time.process_time()
    report = read_logs(paths)
    seconds = time.process_time() - start
    peak = _peak()
    start = time.process_time()
    for path in paths:
        with open(path, "rb") as stream:
            sum(b"ERROR" in line for line in stream)
    searched = time.process_time() - start
    assert report.first_cause is not None
    print(json.dumps({"seconds": seconds, "searched": searched, "megabytes": peak}))


def _peak() -> float:
    """The most memory that this process had, in MB; what its parent had does not count."""
    with open("/proc/self/status", encoding="ascii") as stream:
        line = next(line for line in stream if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _measured(paths: List[str]) -> List[float]:
    call = "from benchmarks.logs import measure; measure({!r})".format(paths)
    out = subprocess.run([sys.executable, "-c", call], stdout=subprocess.PIPE, check=True).stdout
    found = json.loads(out.decode())
    return [found["seconds"], found["searched"], found["megabytes"]]


def rows() -> List[Row]:
    """Time of a large log, of several ranks, and of a log four times as long; memory."""
    with tempfile.TemporaryDirectory() as folder:
        large, small = os.path.join(folder, "large.log"), os.path.join(folder, "small.log")
        write_log(large, _MEGABYTES)
        write_log(small, _MEGABYTES // 4)
        ranks = [os.path.join(folder, "rank_{}.log".format(rank)) for rank in range(_RANKS)]
        for rank, path in enumerate(ranks):
            write_log(path, _MEGABYTES // 16, 20_000 + rank, rank)
        seconds, searched, megabytes = _measured([large])
        quarter, _, _ = _measured([small])
        together, each, _ = _measured(ranks)
    return [
        Row("plog of 200 MB", seconds * 1e3, "a search for ERROR", searched * 1e3, "ms", 1.5),
        Row("8 ranks of 12 MB", together * 1e3, "a search for ERROR", each * 1e3, "ms", 1.6),
        Row("plog of 200 MB", seconds * 1e3, "5 x one of 50 MB", quarter * 5e3, "ms", 1.0),
        Row("memory of the process", megabytes, "100 MB", 100.0, "MB", 1.0),
    ]
