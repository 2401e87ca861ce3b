"""The catalogue: every option of NpuOptimizer, declared once.

One module per page of the vendor's documentation; :data:`OPTIONS` holds all of them by
name, in the order of those pages.
"""

from types import MappingProxyType
from typing import Mapping

from npu_config.catalogue import (
    accuracy_comparison,
    accuracy_tuning,
    aoe,
    basic,
    compilation,
    data_augmentation,
    debugging,
    deprecated,
    dynamic_shape,
    exception,
    experimental,
    internal,
    memory,
    mixed_computing,
    performance,
    profiling,
)
from npu_config.catalogue.kinds import InvalidValue, Kind
from npu_config.catalogue.option import Option, Outcome, Status, table
from npu_config.catalogue.removed import REMOVED

PAGES = (
    basic,
    memory,
    dynamic_shape,
    mixed_computing,
    debugging,
    accuracy_tuning,
    accuracy_comparison,
    performance,
    profiling,
    aoe,
    compilation,
    exception,
    data_augmentation,
    experimental,
    deprecated,
    internal,
)

OPTIONS: Mapping[str, Option] = MappingProxyType(
    dict(table(option for page in PAGES for option in page.OPTIONS.values()))
)

ALL_OPTIONS: Mapping[str, Option] = MappingProxyType({**OPTIONS, **REMOVED})
"""With those that only older adapters read."""

__all__ = [
    "ALL_OPTIONS",
    "Kind",
    "OPTIONS",
    "Option",
    "Outcome",
    "PAGES",
    "REMOVED",
    "InvalidValue",
    "Status",
]
