"""What the profiling options are: every key with its values, range, default and products.

Source: cann/oam-tools:docs/zh/env-vars/PROFILING_OPTIONS.md,
docs/en/tfadapter_1/apiref/session_config/Profiling.md.
"""

from typing import Any, FrozenSet, Iterable, Mapping, Optional, Tuple

import attr

from npu_config.core.message import listed
from npu_config.core.target import ALL_PRODUCTS, Product

SWITCH = ("on", "off", "")
_TIME = ("on", "off", "l0", "l1", "l2", "l3", "")
_NO_PRODUCTS: FrozenSet[Product] = frozenset()


def _but(*products: Product) -> FrozenSet[Product]:
    return ALL_PRODUCTS - frozenset(products)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Key:
    """One key; the value is text, that of a number a JSON integer.

    Args:
        kind: ``"word"`` (one of ``allowed``), ``"words"`` (some of them, with commas between),
            ``"number"`` (an integer in ``range``), ``"size"`` (a number in ``range`` with ``MB``),
            ``"metrics"`` (``allowed`` or registers), ``"path"`` or ``"node"``.
        allowed: the legal words.
        range: the legal numbers.
        unit: of the number.
        default: what the tool takes when the key is not given.
        products: those that have the key.
        wide: products with a larger upper bound, and that bound.
    """

    kind: str
    allowed: Tuple[str, ...] = ()
    range: Tuple[int, int] = (0, 0)
    unit: str = ""
    default: Optional[str] = None
    products: FrozenSet[Product] = ALL_PRODUCTS
    wide: Tuple[FrozenSet[Product], int] = (_NO_PRODUCTS, 0)


def _switch() -> Key:
    return Key("word", SWITCH, default="off")


def _hertz(low: int, high: int, **more: Any) -> Key:
    return Key("number", range=(low, high), unit="Hz", **more)


KEYS: Mapping[str, Key] = {
    "output": Key("path"),
    "storage_limit": Key("size", range=(200, 4294967295), unit="MB"),
    "training_trace": _switch(),
    "task_trace": Key("word", _TIME, default="on"),
    "task_time": Key("word", _TIME, default="on"),
    "ge_api": Key("word", ("off", "l0", "l1", ""), default="off"),
    "hccl": _switch(),
    "aicpu": _switch(),
    "fp_point": Key("node"),
    "bp_point": Key("node"),
    "aic_metrics": Key(
        "metrics",
        (
            "ArithmeticUtilization",
            "PipeUtilization",
            "Memory",
            "MemoryL0",
            "MemoryUB",
            "ResourceConflictRatio",
            "L2Cache",
            "MemoryAccess",
            "",
        ),
        default="PipeUtilization",
    ),
    "l2": _switch(),
    "msproftx": _switch(),
    "runtime_api": _switch(),
    "task_tsfw": _switch(),
    "task_memory": _switch(),
    "task_block": Key("node"),
    "optype": Key("node"),
    "sys_mem_serviceflow": Key("node"),
    "sys_cpu_freq": _hertz(1, 50),
    "sys_lp_freq": _hertz(1, 100),
    "sys_hardware_mem_freq": _hertz(1, 100, wide=(frozenset({Product.ASCEND_950}), 10000)),
    "llc_profiling": Key("word", ("read", "write"), default="read"),
    "sys_io_sampling_freq": _hertz(1, 100, products=_but(Product.ATLAS_INFERENCE)),
    "sys_interconnection_freq": _hertz(1, 50),
    "dvpp_freq": _hertz(1, 100),
    "instr_profiling": Key(
        "word", SWITCH, default="off", products=frozenset({Product.ASCEND_950})
    ),
    "instr_profiling_freq": _hertz(
        300, 30000, products=frozenset({Product.ATLAS_A2, Product.ATLAS_A3})
    ),
    "host_sys": Key("words", ("cpu", "mem", "disk", "network", "osrt", "numa")),
    "host_sys_usage": Key("words", ("cpu", "mem")),
    "host_sys_usage_freq": _hertz(1, 50, default="50"),
}

METRICS_NOT_ON: Mapping[str, FrozenSet[Product]] = {
    "L2Cache": frozenset({Product.ATLAS_INFERENCE, Product.ATLAS_TRAINING}),
    "MemoryAccess": frozenset(
        {Product.ATLAS_INFERENCE, Product.ATLAS_TRAINING, Product.ASCEND_950}
    ),
}
CUSTOM = "Custom:"
MAX_REGISTERS = 8
MAX_REGISTER = 0x6E

EXCLUDED_BY_INSTR: Tuple[str, ...] = (
    "training_trace",
    "task_trace",
    "task_time",
    "hccl",
    "aicpu",
    "fp_point",
    "bp_point",
    "aic_metrics",
    "l2",
    "runtime_api",
)


def names(products: Iterable[Product]) -> str:
    """Products for a message, in the order of the vendor's tables."""
    given = frozenset(products)
    return listed(product.value for product in Product if product in given)


def registers(text: str) -> Optional[Tuple[int, ...]]:
    """The registers of ``Custom:<regs>``; None when they are not legal.

    Args:
        text: what follows the colon, e.g. ``"0x49,73"``.
    """
    found = []
    for part in text.split(","):
        word = part.strip().lower()
        digits = word[2:] if word.startswith("0x") else word
        legal = "0123456789abcdef" if word.startswith("0x") else "0123456789"
        if not 0 < len(digits) < 10 or any(digit not in legal for digit in digits):
            return None
        found.append(int(digits, 16 if word.startswith("0x") else 10))
    if len(found) > MAX_REGISTERS or not all(1 <= number <= MAX_REGISTER for number in found):
        return None
    return tuple(found)
