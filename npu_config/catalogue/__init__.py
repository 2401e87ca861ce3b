"""The catalogue: every option of NpuOptimizer, declared once.

:data:`OPTIONS` holds all of them by name, in the order of the vendor's pages; the declarations
are in ``options``, what can be declared in ``option``, what values there are in ``kinds`` and
``structured``.
"""

from __future__ import annotations

import functools
from types import MappingProxyType
from typing import Any, Callable, Container, Dict, Mapping, NamedTuple, Optional, Tuple

from npu_config.catalogue.kinds import InvalidValue, Kind, Wire
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
    """An option as the adapter of one version knows it: its field, its writer, and what the
    runtime does with a bad value.
    """

    option: Option
    wire: str
    to_wire: Callable[[Any], Wire]
    outcome: Outcome


@functools.lru_cache(maxsize=64)
def known_to(version: Optional[int]) -> Mapping[str, KnownOption]:
    """The options that an adapter knows (an index of ``SNAPSHOTS``; None: the newest)."""
    return {
        name: KnownOption(
            option,
            option.wire_in(version),
            option.kind.to_wire if option.wire_in(version) == option.kind.wire else "true".__eq__,
            option.outcome_in(version),
        )
        for name, option in (OPTIONS if version is None else ALL_OPTIONS).items()
        if version is None or not option.is_read or option.versions.has(version)
    }


Reader = Tuple[str, str, type, Container[Any], Callable[[Any], Any], Callable[[Any], Any]]
"""Name and field; a value of exactly this type among these is canonical; what reads a text, and
what reads others: the same text is taken apart once, scripts and layers of a job repeat values."""


@functools.lru_cache(maxsize=64)
def readers_of(version: Optional[int]) -> Mapping[str, Reader]:
    """How the values of the options that an adapter knows are read: what every check goes over."""
    readers: Dict[str, Reader] = {}
    for name, known in known_to(version).items():
        option, kind = known.option, known.option.kind
        legal, parse = kind.legal, kind.parse
        if version is not None and not option.is_plain_in(version):
            legal, parse = (), functools.partial(option.parse_in, version=version)
        of_text = parse if kind.plain else functools.lru_cache(maxsize=16)(parse)
        readers[name] = name, known.wire, kind.exact, legal, of_text, parse
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
