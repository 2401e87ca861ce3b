"""A search by ``npu-config explain``, which may take 150 ms of CPU more than ``python``."""

from typing import List

from benchmarks._measure import Row, processes

_MORE = 150.0
_CALLS = (["overflow"], ["--lang", "zh", "loss scale"], ["dump_step"])


def rows() -> List[Row]:
    """One row for each call."""
    bare, *ours = processes(
        [["-c", "pass"], *(["-m", "npu_config", "explain", *call] for call in _CALLS)]
    )
    names = ["explain " + " ".join(call) for call in _CALLS]
    return [
        Row(name, took * 1e3, "python + 150 ms", bare * 1e3 + _MORE, "ms", 1.0)
        for name, took in zip(names, ours)
    ]
