"""The catalogue: every option of NpuOptimizer, declared once.

:data:`OPTIONS` holds all of them by name, in the order of the vendor's pages; the declarations
are in ``options``, what can be declared in ``option``, what values there are in ``kinds`` and
``structured``.
"""

from __future__ import annotations

import functools
from types import MappingProxyType
from typing import Any, Callable, Container, Dict, Mapping, NamedTuple, Optional, Tuple

from npu_config.catalogue.kinds import InvalidValue, Kind, Wire, remembered
from npu_config.catalogue.option import Option, Outcome, Page, Status
from npu_config.catalogue.options import PAGES, removed

OPTIONS: Mapping[str, Option] = MappingProxyType(
    {name: option for page in PAGES for name, option in page.options.items()}
)
"""Every option by its name: what it takes, its default, the versions that read it."""
REMOVED: Mapping[str, Option] = removed.options
"""Those that only older adapters read."""

ALL_OPTIONS: Mapping[str, Option] = MappingProxyType({**OPTIONS, **REMOVED})
"""With those."""


class KnownOption(NamedTuple):
    """An option as the adapter of one version knows it: its field, its reader, its writer, and
    what the runtime does with a bad value.
    """

    option: Option
    wire: str
    parse: Callable[[Any], Any]
    to_wire: Callable[[Any], Wire]
    outcome: Outcome


@functools.lru_cache(maxsize=64)
def known_to(version: Optional[int]) -> Mapping[str, KnownOption]:
    """The options that an adapter knows (an index of ``SNAPSHOTS``; None: the newest)."""
    return {
        name: KnownOption(
            option,
            option.wire_in(version),
            (option.kind.parse if option.kind.plain else remembered(option.kind.parse))
            if version is None or option.is_plain_in(version)
            else functools.partial(option.parse_in, version=version),
            option.kind.to_wire if option.wire_in(version) == option.kind.wire else "true".__eq__,
            option.outcome_in(version),
        )
        for name, option in (OPTIONS if version is None else ALL_OPTIONS).items()
        if version is None or not option.is_read or option.versions.has(version)
    }


Reader = Tuple[str, str, type, Container[Any], Callable[[Any], Any]]
"""Name and field; a value of exactly this type among these is canonical; what reads others."""


@functools.lru_cache(maxsize=64)
def readers_of(version: Optional[int]) -> Mapping[str, Reader]:
    """How the values of the options that an adapter knows are read: what every check goes over."""
    readers: Dict[str, Reader] = {}
    for name, known in known_to(version).items():
        kind = known.option.kind
        legal = kind.legal if version is None or known.option.is_plain_in(version) else ()
        readers[name] = name, known.wire, kind.exact, legal, known.parse
    return readers


@functools.lru_cache(maxsize=64)
def writers_of(
    version: Optional[int],
) -> Mapping[str, Tuple[str, Optional[Callable[[Any], Wire]]]]:
    """The field of each option that an adapter knows, and what makes the value in it of the
    canonical one; None: it is the same.
    """
    return {
        name: (
            known.wire,
            None
            if known.option.kind.plain and known.wire == known.option.kind.wire
            else known.to_wire,
        )
        for name, known in known_to(version).items()
    }


__all__ = [
    "ALL_OPTIONS",
    "Kind",
    "OPTIONS",
    "Option",
    "Outcome",
    "PAGES",
    "Page",
    "REMOVED",
    "InvalidValue",
    "Status",
    "known_to",
    "KnownOption",
    "Reader",
    "readers_of",
    "writers_of",
]
