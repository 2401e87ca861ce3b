"""What the profiling options are: every key, what it takes, and the products that have it.

Source: cann/oam-tools:docs/zh/env-vars/PROFILING_OPTIONS.md,
docs/en/tfadapter_1/apiref/session_config/Profiling.md.
"""

import re
from typing import Any, FrozenSet, Iterable, List, Mapping, Optional

import attr

from npu_config.catalogue.kinds import Choice, Int, Text
from npu_config.core.message import listed, phrase
from npu_config.core.target import ALL_PRODUCTS, Product
from npu_config.sidefiles import _profiling_rules as rules
from npu_config.sidefiles.schema.kinds import AnyKind, BadValueError, Key, Schema
from npu_config.sidefiles.schema.kinds import Kind as FileKind
from npu_config.sidefiles.schema.kinds import Text as AnyText
from npu_config.text.words import near, shown

CUSTOM = "Custom:"
MAX_REGISTERS = 8
MAX_REGISTER = 0x6E
MEMORY_950 = 10000
_PAGE = "cann/oam-tools:docs/zh/env-vars/PROFILING_OPTIONS.md"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class _MemoryFrequency(Int):
    def parse(self, value: Any) -> int:
        """The number; whether the product has the larger ones is asked later."""
        return Int(self.minimum, MEMORY_950).parse(value)

    def describe(self) -> str:
        """Legal values."""
        return phrase("{} (on ascend_950: to {})", super().describe(), MEMORY_950)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class _On(Choice):
    def describe(self) -> str:
        """Legal values."""
        return '"on", or no such key: the graph engine refuses "off"'


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Words(Choice):
    """Some of a few words, with commas between."""

    def parse(self, value: Any) -> str:
        """The text as it is."""
        for word in value.split(","):
            if word not in self.values:
                message = phrase("{} is none of {}", shown(word), super().describe())
                raise BadValueError(message, meant=near(word, self.values))
        return str(value)

    def describe(self) -> str:
        """Legal values."""
        return phrase('some of {}, joined by ","', super().describe())


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Metrics(Choice):
    """One of a few words, or registers."""

    def parse(self, value: Any) -> str:
        """The text as it is."""
        if not value.startswith(CUSTOM):
            return super().parse(value)
        if registers(value[len(CUSTOM) :]) is None:
            message = (
                'legal after "{}": at most {} registers with commas and no blanks between, each '
                "0x1 to 0x6E"
            )
            raise BadValueError(phrase(message, CUSTOM, MAX_REGISTERS))
        return str(value)

    def describe(self) -> str:
        """Legal values."""
        return phrase('{}, "{}<registers>"', super().describe(), CUSTOM)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Size(FileKind):
    """A number of megabytes with its unit; the profiler passes over anything else."""

    least: int
    most: int

    def parse(self, value: Any) -> str:
        """The text as it is."""
        match = re.match(r"([0-9]{1,18})(MB)?\Z", value)
        legal = match is not None and self.least <= int(match.group(1)) <= self.most
        if match is not None and match.group(2) and legal:
            return str(value)
        meant = '"{}MB"'.format(value) if legal else None
        raise BadValueError(
            phrase("legal: {}MB to {}MB; the profiler passes over it", self.least, self.most),
            meant and phrase("write {}", meant),
            meant,
            read_as="",
        )


def _key(kind: AnyKind) -> Key:
    return Key(
        kind, source=_PAGE, rule=rules.profiling_range if isinstance(kind, (Int, Size)) else None
    )


_SWITCH = _key(Choice(("on", "off", "")))
_TIME = _key(Choice(("on", "off", "l0", "l1", "l2", "l3", "")))
_ANY = _key(AnyText(0))
KEYS: Mapping[str, Key] = {
    "output": Key(
        Text(
            r"[^\n\f\r\b\t\v\x7f\"'\\%><|&$;`]*\Z",
            "a path without control characters, quotes and \\ % > < | & $ ; `",
        ),
        source=_PAGE,
        rule=rules.profiling_output_characters,
    ),
    "storage_limit": _key(Size(200, 4294967295)),
    "training_trace": _key(_On(("on", ""))),
    "task_trace": _TIME,
    "task_time": _TIME,
    "ge_api": _key(Choice(("off", "l0", "l1", ""))),
    "hccl": _SWITCH,
    "aicpu": _SWITCH,
    "fp_point": _ANY,
    "bp_point": _ANY,
    "aic_metrics": _key(
        Metrics(
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
            )
        )
    ),
    "l2": _SWITCH,
    "msproftx": _SWITCH,
    "runtime_api": _SWITCH,
    "task_tsfw": _SWITCH,
    "task_memory": _SWITCH,
    "task_block": _ANY,
    "optype": _ANY,
    "sys_mem_serviceflow": _ANY,
    "sys_cpu_freq": _key(Int(1, 50)),
    "sys_lp_freq": _key(Int(1, 4294967295)),
    "sys_hardware_mem_freq": _key(_MemoryFrequency(1, 100)),
    "llc_profiling": _key(Choice(("read", "write"))),
    "sys_io_sampling_freq": _key(Int(1, 100)),
    "sys_interconnection_freq": _key(Int(1, 50)),
    "dvpp_freq": _key(Int(1, 100)),
    "instr_profiling": _SWITCH,
    "instr_profiling_freq": _key(Int(300, 30000)),
    "host_sys": _key(Words(("cpu", "mem", "disk", "network", "osrt", "numa"))),
    "host_sys_usage": _key(Words(("cpu", "mem"))),
    "host_sys_usage_freq": _key(Int(1, 50)),
}
SCHEMA = Schema(KEYS, closed=True)

_OLD = frozenset({Product.ATLAS_INFERENCE, Product.ATLAS_TRAINING})
PRODUCTS: Mapping[str, FrozenSet[Product]] = {
    "sys_io_sampling_freq": ALL_PRODUCTS - {Product.ATLAS_INFERENCE},
    "instr_profiling": frozenset({Product.ASCEND_950}),
    "instr_profiling_freq": frozenset({Product.ATLAS_A2, Product.ATLAS_A3}),
}
"""The products that have a key which not all have."""

METRICS_NOT_ON: Mapping[str, FrozenSet[Product]] = {
    "L2Cache": _OLD,
    "MemoryAccess": _OLD | {Product.ASCEND_950},
}

EXCLUDED_BY_INSTR = (
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


def registers(text: str) -> Optional[List[int]]:
    """The registers of ``Custom:<regs>``; None when they are not legal.

    Args:
        text: what follows the colon, e.g. ``"0x49,73"``.
    """
    found = []
    for part in text.lower().split(","):
        match = re.match(r"(?:0x([0-9a-f]{1,9})|([0-9]{1,9}))\Z", part)
        if match is None:
            return None
        found.append(int(match.group(1), 16) if match.group(1) else int(match.group(2)))
    legal = len(found) <= MAX_REGISTERS and all(0 < number <= MAX_REGISTER for number in found)
    return found if legal else None
