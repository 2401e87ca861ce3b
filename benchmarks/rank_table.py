"""Rank tables of 32,768 devices: check against json.loads, memory against the file, linearity.

Baselines: ``json.loads`` of the same text, its value let go of as the check does; the size of
the file; and the same work for an eighth of the devices.
"""

import gc
import json
import tracemalloc
from typing import Any, Callable, Dict, List

from benchmarks._measure import Row, best
from npu_config import rank_table
from npu_config.rank_table.building import Layer, ServerPlan, build, build_ranks
from npu_config.rank_table.judging import check
from npu_config.rank_table.model import render, to_document

DEVICES = 32768
TIME, MEMORY = 2.0, 10.0
FAULTY = 12.0


def table_1_0(devices: int, first: str = "10.0.0.1") -> Any:
    """Servers of eight devices."""
    names = ["server-{}".format(number) for number in range(devices // 8)]
    return build(names, 8, first, "atlas_training")


def table_1_2(devices: int) -> Any:
    """Super nodes of 32 servers of eight devices."""
    plans = [
        ServerPlan(
            "server-{}".format(number),
            super_pod=str(number // 32),
            super_device_ids={device: str(number % 32 * 8 + device) for device in range(8)},
        )
        for number in range(devices // 8)
    ]
    return build(plans, 8, "10.0.0.1", "atlas_a3", device_port=16666)


def table_2_0(devices: int) -> Any:
    """Two layers, with one and two addresses."""
    layers = [
        Layer(0, "rack{server}", [("1/0",)], "10.0.0.1"),
        Layer(1, "az0", [("0/4", "0/5"), ("1/5", "1/6")], "11.0.0.1"),
    ]
    return build_ranks(devices // 8, layers, 8, 16000, 16000)


def texts() -> Dict[str, str]:
    """The texts that are checked, by name."""
    old = table_1_0(DEVICES)
    compact = json.dumps(to_document(old), separators=(",", ":"))
    return {
        "1.0, compact": compact,
        "1.0, two blanks": json.dumps(to_document(old), indent=2),
        "1.0, canonical": render(old),
        "1.0, IPv6": render(table_1_0(DEVICES, "fd00::1")),
        "1.2, super nodes": render(table_1_2(DEVICES)),
        "2.0, half the ranks": render(table_2_0(DEVICES // 2)),
    }


def peak(function: Callable[[], Any]) -> float:
    """Megabytes that a function takes at most."""
    gc.collect()
    tracemalloc.start()
    function()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1e6


def loads(text: str) -> None:
    """Read JSON and let go of it."""
    json.loads(text)


def rows() -> List[Row]:
    """The rows of the budget table that concern rank tables, and some more."""
    result: List[Row] = []
    tables = texts()
    for name, text in tables.items():
        assert not check(text)
        result.extend(_against_json("check, " + name, text, TIME))
    right = tables["1.0, canonical"]
    wrong = right.replace('"rank_id": "32767"', '"rank_id": "32766"')
    assert [found.rule for found in check(wrong)] == ["NPU650"]
    result.extend(_against_json("check, one fault at its end", wrong, FAULTY))
    result.extend(_linear())
    return result


def _against_json(what: str, text: str, budget: float) -> List[Row]:
    ours, base = best([lambda: check(text), lambda: loads(text)], 1, 15)
    size = len(text.encode()) / 1e6
    most = peak(lambda: check(text)) + size
    return [
        Row(what, ours * 1e3, "json.loads", base * 1e3, "ms", budget),
        Row("memory of it, text included", most, "file", size, "MB", MEMORY),
    ]


def _linear() -> List[Row]:
    few, many = DEVICES // 8, DEVICES
    small, large = table_1_0(few), table_1_0(many)
    small_text, large_text = render(small), render(large)
    pairs = {
        "build": (lambda: table_1_0(few), lambda: table_1_0(many)),
        "render": (lambda: render(small), lambda: render(large)),
        "parse": (lambda: rank_table.parse(small_text), lambda: rank_table.parse(large_text)),
        "check": (lambda: check(small_text), lambda: check(large_text)),
    }
    result = []
    for name, (little, much) in pairs.items():
        short, long = best([little, much], 1, 7)
        words = "{}, per device".format(name)
        base = short * 1e6 / few
        result.append(Row(words, long * 1e6 / many, "an eighth of them", base, "us", 2.0))
    size = len(large_text) / 1e6
    built = peak(lambda: table_1_0(many))
    result.append(Row("memory of build", built, "file", size, "MB", MEMORY))
    return result
