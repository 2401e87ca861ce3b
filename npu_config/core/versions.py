"""What a configuration may be meant for: the vendor's products, versions of CANN and adapters.

A version is the index of one of the snapshots of the TF Adapter that were measured, in
:data:`SNAPSHOTS`.  ``facts/versions.yaml`` is the source;
what exists in which version is declared where it is declared (options, values, parameters).
"""

from __future__ import annotations

import enum
import functools
import re
from typing import Dict, FrozenSet, NamedTuple, Optional, Tuple

from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import join, listed, phrase

FORM = '"8.0.0", "7.0.RC1" or "6.3.RC2.alpha003"'
"""Examples of how CANN's versions are written."""

_FORM = lazy_pattern(
    r"(?:cann[ _-]*)?(\d{1,3})(?:\.(\d{1,3}))?(?:\.(rc)?(\d{1,3}))?(?:\.(\d{1,3}))?"
    r"(?:\.(alpha|beta)(\d{1,3}))?\Z",
    re.IGNORECASE,
)

Key = Tuple[int, ...]


def parse_cann(text: str) -> Tuple[str, Key]:
    """A version of CANN as it is written, and what it is ordered by.

    Args:
        text: e.g. ``"8.0.RC3"``, ``"5.1"``; small letters and a leading ``CANN`` are accepted.

    Raises:
        ValueError: it is not a version, naming the form.
    """
    match = _FORM.match(text.strip()) if isinstance(text, str) else None
    if match is None:
        shown = '"{}"'.format(text[:80]) if isinstance(text, str) else repr(text)[:80]
        raise ValueError(phrase("{} is not a version of CANN; write it like {}", shown, FORM))
    major, minor, candidate, third, fourth, stage, number = match.groups()
    written = "{}.{}".format(int(major), int(minor or 0))
    if third is not None:
        written += "." + ("RC" if candidate else "") + str(int(third))
    if fourth is not None:
        written += "." + str(int(fourth))
    if stage is not None:
        written += ".{}{}".format(stage.lower(), number)
    return written, (
        int(major),
        int(minor or 0),
        0 if candidate else 1,
        int(third or 0),
        int(fourth or 0),
        ("alpha", "beta").index(stage.lower()) if stage else 2,
        int(number or 0),
    )


class Snapshot(NamedTuple):
    """One measured version of the TF Adapter.

    ``about`` says that its version of CANN was inferred from dates; ``cann`` is None for the head
    of development.
    """

    adapter: str
    date: str
    cann: Optional[str]
    about: bool = False

    def __str__(self) -> str:
        if self.cann is None:
            return phrase("adapter {}", self.adapter)
        return phrase(
            "adapter {} (about CANN {})" if self.about else "adapter {} (CANN {})",
            self.adapter,
            self.cann,
        )


SNAPSHOTS: Tuple[Snapshot, ...] = (
    Snapshot("r1.1.1", "2021-01-05", "3.2", True),
    Snapshot("r1.2.0", "2021-02-09", "3.3", True),
    Snapshot("r1.3.0", "2021-04-19", "5.0.1", True),
    Snapshot("r1.5.0", "2021-07-16", "5.0.2", True),
    Snapshot("r1.6.0", "2021-09-23", "5.0.3", True),
    Snapshot("r1.7.0", "2022-02-14", "5.0.4", True),
    Snapshot("r1.8.0", "2022-04-29", "5.1.RC1", True),
    Snapshot("r1.9.0", "2022-07-12", "5.1.RC2", True),
    Snapshot("r1.10.0", "2022-10-09", "6.0.RC1", True),
    Snapshot("r1.11.0", "2023-01-06", "6.0.1", True),
    Snapshot("v0.0.3", "2023-03-23", "6.3.RC1.alpha002"),
    Snapshot("r1.12.0", "2023-04-24", "6.3.RC1", True),
    Snapshot("v0.0.4", "2023-04-18", "6.3.RC2.alpha001"),
    Snapshot("v0.0.7", "2023-05-16", "6.3.RC2.alpha002"),
    Snapshot("v0.0.9", "2023-06-12", "6.3.RC2.alpha003"),
    Snapshot("r1.13.0", "2023-07-24", "6.3.RC2", True),
    Snapshot("v0.0.13", "2023-07-14", "7.0.RC1.alpha001"),
    Snapshot("v0.0.14", "2023-08-09", "7.0.RC1.alpha002"),
    Snapshot("v0.0.16", "2023-09-13", "7.0.RC1.alpha003"),
    Snapshot("v0.0.18", "2023-10-18", "7.0.0.alpha001"),
    Snapshot("r1.15.0", "2023-11-13", "7.0.0", True),
    Snapshot("v0.0.20", "2023-12-12", "7.0.0.alpha003"),
    Snapshot("v0.0.48", "2026-04-27", "9.0.0"),
    Snapshot("master-2026-07", "2026-07-23", None),
)

INDEX = {snapshot.adapter: index for index, snapshot in enumerate(SNAPSHOTS)}
"""Label to index."""

NEWEST = len(SNAPSHOTS) - 1


@functools.lru_cache(maxsize=1)
def _keys() -> Tuple[Key, ...]:
    """What the snapshots are ordered by."""
    canns = (snapshot.cann for snapshot in SNAPSHOTS)
    return tuple((999,) if cann is None else parse_cann(cann)[1] for cann in canns)


def parse_adapter(text: str) -> str:
    """The label of a snapshot, also from the name of its tag (``tfa_v0.0.16_7.0.RC1.alpha003``).

    Raises:
        ValueError: there is no such snapshot, naming those there are.
    """
    label = text.strip().lower() if isinstance(text, str) else ""
    label = label[4:].partition("_")[0] if label.startswith("tfa_") else label
    if label == "master":
        label = SNAPSHOTS[NEWEST].adapter
    if label not in INDEX:
        raise ValueError(phrase('unknown adapter "{}"; legal: {}', str(text)[:80], listed(INDEX)))
    return label


@functools.lru_cache(maxsize=256)
def version_of(cann: Optional[str], adapter: Optional[str]) -> Optional[int]:
    """The snapshot that a version of CANN or an adapter means; None without either.

    A version of CANN between two snapshots means the older one; one that is newer than all of them
    the newest, one that is older the oldest.

    Raises:
        ValueError: one of them cannot be read, or they contradict each other.
    """
    by_adapter = None if adapter is None else INDEX[parse_adapter(adapter)]
    if cann is None:
        return by_adapter
    written, key = parse_cann(cann)
    keys = _keys()
    older = [index for index in range(len(SNAPSHOTS)) if keys[index] <= key]
    found = max(older, key=keys.__getitem__) if older else 0
    if key > keys[NEWEST - 1]:
        found = NEWEST
    if by_adapter is not None and by_adapter != found:
        raise ValueError(
            phrase(
                "CANN {} has {}, not {}; specify only one of the two",
                written,
                SNAPSHOTS[found],
                SNAPSHOTS[by_adapter],
            )
        )
    return found


def is_measured(cann: str) -> bool:
    """False for a version of CANN that is newer or older than every snapshot."""
    keys = _keys()
    return keys[0] <= parse_cann(cann)[1] <= keys[NEWEST - 1]


class Versions(NamedTuple):
    """The snapshots in which something exists, as pairs of the first and the last index."""

    spans: Tuple[Tuple[int, int], ...]

    def has(self, version: int) -> bool:
        """True when it exists in that snapshot."""
        return any(first <= version <= last for first, last in self.spans)

    def __str__(self) -> str:
        """``since r1.8.0``, ``until r1.10.0, since v0.0.3``, ``in every version``."""
        if self == EVER:
            return phrase("in every version")
        words = []
        for first, last in self.spans:
            start, end = SNAPSHOTS[first].adapter, SNAPSHOTS[last].adapter
            if first == last:
                words.append(phrase("in {} only", start))
            elif last == NEWEST:
                words.append(phrase("since {}", start))
            else:
                words.append(
                    phrase("until {}", end) if first == 0 else phrase("from {} to {}", start, end)
                )
        return join(", ", words) or phrase("in no version")


EVER = Versions(((0, NEWEST),))
NEVER = Versions(())


def spans(*pairs: Tuple[Optional[str], Optional[str]]) -> Versions:
    """The versions between pairs of labels, both included; None: the oldest, the newest."""
    return Versions(
        tuple(
            (
                0 if first is None else INDEX[first],
                NEWEST if last is None else INDEX[last],
            )
            for first, last in pairs
        )
    )


def since(adapter: str) -> Versions:
    """This version and every later one."""
    return spans((adapter, None))


def until(adapter: str) -> Versions:
    """This version and every earlier one."""
    return spans((None, adapter))


class Product(enum.Enum):
    """A product family; ``Product("910B")`` takes every name of :data:`PRODUCT_NAMES`.

    Source: the product tables of docs/en/tfadapter_1/apiref/session_config.
    """

    ASCEND_950 = "ascend_950"
    ATLAS_A3 = "atlas_a3"
    ATLAS_A2 = "atlas_a2"
    ATLAS_TRAINING = "atlas_training"
    ATLAS_INFERENCE = "atlas_inference"
    ATLAS_300I_DUO = "atlas_300i_duo"

    @classmethod
    def _missing_(cls, value: object) -> Product:
        legal = ", ".join(product.value for product in cls)
        found = _by_name().get(_plain(value), ()) if isinstance(value, str) else ()
        if len(found) == 1:
            return found[0]
        if found:
            problem = phrase(
                '"{}" is ambiguous; specify {}',
                value,
                join(" or ", [product.value for product in found]),
            )
        else:
            problem = phrase(
                'unknown product "{}"; legal: {}, or the name of a chip or server, '
                "e.g. 910B or Atlas 800T A2",
                value,
                legal,
            )
        raise ValueError(problem)


ALL_PRODUCTS: FrozenSet[Product] = frozenset(Product)


_NAMES = """
ascend_950: Ascend 950, 950PR, 950DT, 910_95, Atlas 950 SuperPoD
atlas_a3: A3, 910C, 910_93, 910_9391, 910_9392, 910_9381, 910_9382, 910_9372, 910_9362
atlas_a3: Atlas 900 A3 SuperPoD, Atlas 9000 A3 SuperPoD, Atlas 800T A3, Atlas 800I A3
atlas_a2: A2, 910B, 910B1, 910B2, 910B2C, 910B3, 910B4, 910B4-1, Atlas 900 A2 PoD
atlas_a2: Atlas 800T A2, Atlas 800I A2, Atlas 300T A2, Atlas 300I A2, Atlas 200T A2 Box16
atlas_training: Ascend 910, 910A, 910ProA, 910ProB, 910PremiumA, Atlas 900 PoD
atlas_training: Atlas 800 9000, Atlas 800 9010, Atlas 300T, Atlas 300T Pro
atlas_inference: 310P1, Atlas 300I Pro, Atlas 300V, Atlas 300V Pro
atlas_300i_duo: 300I Duo
atlas_inference atlas_300i_duo: 310P, 310P3
atlas_training atlas_a2 atlas_a3: Atlas 800, Atlas 900
"""


PRODUCT_NAMES: Dict[str, Tuple[Product, ...]] = {
    name.strip(): tuple(map(Product, products.split()))
    for products, _, names in (line.partition(":") for line in _NAMES.strip().splitlines())
    for name in names.split(",")
}
"""Names of chips and servers, and the products that each may mean.

Case, blanks, ``-`` and ``_`` make no difference, nor do the words Huawei, Ascend, Atlas, model,
training, inference, server, card, series and products.
"""


_NOISE = lazy_pattern(
    r"[^a-z0-9]|huawei|ascend|atlas|model|training|inference|server|card|series|products?"
)


def _plain(name: str) -> str:
    return _NOISE.sub("", name[:80].lower())


@functools.lru_cache(maxsize=1)
def _by_name() -> Dict[str, Tuple[Product, ...]]:
    return {_plain(name): products for name, products in PRODUCT_NAMES.items()}
