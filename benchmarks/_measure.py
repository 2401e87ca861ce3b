"""Timing and printing shared by the benchmarks."""

import concurrent.futures
import gc
import importlib
import multiprocessing
import os
import resource
import subprocess
import sys
import time
from typing import Callable, List, NamedTuple, Sequence


class Row(NamedTuple):
    """One line of the table; ``budget`` is a ratio, or a limit in ``unit``."""

    what: str
    ours: float
    baseline_name: str
    baseline: float
    unit: str
    budget: float


def in_own_process(module: str) -> List[Row]:
    """The rows of a benchmark, measured in a process of its own.

    What it starts begins with its peak of memory, which must not be another benchmark's.
    """
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
        return pool.submit(_rows_of, module).result()


def _rows_of(module: str) -> List[Row]:
    return list(importlib.import_module(module).rows())


def best(
    functions: Sequence[Callable[[], object]],
    number: int,
    repeats: int = 9,
    clock: Callable[[], float] = time.perf_counter,
) -> List[float]:
    """Seconds for one call of each function: the best mean of several rounds, taken in turns."""
    result = [float("inf")] * len(functions)
    for _ in range(repeats):
        for index, function in enumerate(functions):
            gc.collect()
            start = clock()
            for _ in range(number):
                function()
            result[index] = min(result[index], (clock() - start) / number)
    return result


def processes(calls: Sequence[Sequence[str]]) -> List[float]:
    """Least CPU time of a fresh interpreter with these arguments, in seconds, taken in turns.

    Byte code is cached, as it is for installed packages.
    """
    environ = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    result = [float("inf")] * len(calls)
    for _ in range(15):
        for index, call in enumerate(calls):
            before = _cpu_of_children()
            command = [sys.executable, *call]
            subprocess.run(command, capture_output=True, check=True, env=environ)
            result[index] = min(result[index], _cpu_of_children() - before)
    return result


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def show(rows: List[Row]) -> None:
    """Print the table."""
    head = ("what", "ours", "baseline", "", "ratio", "budget")
    print("{:<44} {:>12} {:>28} {:>12} {:>7} {:>7}".format(*head))
    for row in rows:
        print(
            "{:<44} {:>12} {:>28} {:>12} {:>6.2f}x {:>6.2f}x{}".format(
                row.what,
                "{:.1f} {}".format(row.ours, row.unit),
                row.baseline_name,
                "{:.1f} {}".format(row.baseline, row.unit),
                row.ours / row.baseline,
                row.budget,
                "" if row.ours / row.baseline <= row.budget else "  OVER",
            )
        )
