"""The machine a configuration is meant for: product, run mode, version of CANN and its adapter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import (
    TYPE_CHECKING,
    AbstractSet,
    Any,
    FrozenSet,
    NamedTuple,
    Optional,
    Union,
)

from npu_config.core.calls import explained
from npu_config.core.message import listed, phrase
from npu_config.core.versions import (
    ALL_PRODUCTS,
    SNAPSHOTS,
    Product,
    Snapshot,
    parse_adapter,
    parse_cann,
    version_of,
)

__all__ = [
    "ANY_TARGET",
    "MODES",
    "NO_TARGET",
    "PARTS",
    "OwnTarget",
    "Target",
    "layered",
]


if TYPE_CHECKING:
    from typing_extensions import Literal

    ProductName = Literal[
        "ascend_950", "atlas_a3", "atlas_a2", "atlas_training", "atlas_inference", "atlas_300i_duo"
    ]
    Mode = Literal["training", "online_inference"]

MODES = ("training", "online_inference")


@explained()
@dataclass(frozen=True, init=False)
class Target:
    """Where and how the job will run; every field narrows what the rules may say.

    Args:
        product: a :class:`Product` or its text, e.g. ``"atlas_a2"``; for the name of a chip or of
            a server give ``Product("910B")``.  None: any product.  Product-limited rules then
            speak only when every product agrees.
        mode: ``"training"`` or ``"online_inference"``; None: as ``graph_run_mode`` says.
        cann: version of CANN, e.g. ``"8.0.0"``, ``"7.0.RC1"``, ``"5.1"``; None: any.  The rules
            then speak of the newest adapter.
        adapter: version of the TF Adapter, e.g. ``"r1.13.0"``, in place of ``cann`` or beside it.

    Raises:
        ValueError: for an unknown product, mode, adapter or version of CANN, naming what is legal;
            for a product name that may mean several; for ``cann`` and ``adapter`` that contradict
            each other.
    """

    product: Optional[Product]
    mode: Optional[Mode]
    cann: Optional[str]
    adapter: Optional[str]
    version: Optional[int] = field(init=False, compare=False, repr=False)
    """The index of the adapter's snapshot in ``core.versions.SNAPSHOTS``; None: any."""
    products: FrozenSet[Product] = field(init=False, compare=False, repr=False)
    """The products it may be: one, or all."""

    def __init__(
        self,
        product: Union[Product, ProductName, None] = None,
        mode: Optional[Mode] = None,
        cann: Optional[str] = None,
        adapter: Optional[str] = None,
    ) -> None:
        known = None if product is None else Product(product)
        cann = None if cann is None else parse_cann(cann)[0]
        adapter = None if adapter is None else parse_adapter(adapter)
        version = version_of(cann, adapter)
        if mode is not None and mode not in MODES:
            raise ValueError(phrase('unknown mode "{}"; legal: {}', mode, listed(MODES)))
        products = ALL_PRODUCTS if known is None else frozenset((known,))
        vars(self).update(product=known, mode=mode, cann=cann, adapter=adapter)
        vars(self).update(version=version, products=products)

    @classmethod
    def named(
        cls,
        product: Union[Product, str, None] = None,
        mode: Optional[str] = None,
        cann: Optional[str] = None,
        adapter: Optional[str] = None,
    ) -> Target:
        """The same from texts that a file or a user gave, aliases of products among them."""
        known: Any = mode
        return cls(None if product is None else Product(product), known, cann, adapter)

    @property
    def snapshot(self) -> Optional[Snapshot]:
        """The adapter that is meant; None: any."""
        version = self.version
        return None if version is None else SNAPSHOTS[version]


ANY_TARGET = Target()

PARTS = ("product", "mode", "version")
"""What a target says, each by itself; ``cann`` and ``adapter`` are one: the version."""


class OwnTarget(NamedTuple):
    """What a source says of its target, and the parts of it that cannot be read."""

    target: Optional[Target] = None
    unknown: FrozenSet[str] = frozenset()


NO_TARGET = OwnTarget()


def layered(
    wanted: Optional[Target],
    own: Optional[Target],
    default: Optional[Target] = None,
    unknown: AbstractSet[str] = frozenset(),
) -> Target:
    """The target of a source, part by part.

    Args:
        wanted: what the caller asks for; it replaces what the source says.
        own: what the source itself says.
        default: what holds where neither says anything, e.g. what the project says.
        unknown: the parts that the source says in a way that cannot be read: the default does
            not hold for them.
    """
    layers = [layer for layer in (wanted, own) if layer is not None]

    def of(part: str) -> Target:
        last = () if default is None or part in unknown else (default,)
        said = (each for each in (*layers, *last) if getattr(each, part) is not None)
        return next(said, ANY_TARGET)

    version = of("version")
    return Target(of("product").product, of("mode").mode, version.cann, version.adapter)
