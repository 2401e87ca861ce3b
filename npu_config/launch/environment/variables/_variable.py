"""What is declared of each environment variable."""

from typing import Any, Callable, FrozenSet, Optional, Tuple

import attr

from npu_config.catalogue.kinds import Kind
from npu_config.core.diagnostics import Severity
from npu_config.core.target import Product

COLLECTIVE: FrozenSet[Product] = frozenset(
    (
        Product.ASCEND_950,
        Product.ATLAS_A3,
        Product.ATLAS_A2,
        Product.ATLAS_TRAINING,
        Product.ATLAS_300I_DUO,
    )
)
"""The products that HCCL works on."""

ADAPTER: FrozenSet[Product] = COLLECTIVE - {Product.ATLAS_300I_DUO} | {Product.ATLAS_INFERENCE}
"""The products that the adapter's own pages name."""

TRAINING: FrozenSet[Product] = ADAPTER - {Product.ATLAS_INFERENCE}
"""The products that train."""


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Variable:
    """One environment variable.

    Args:
        name: its name.
        meaning: what it is for.
        kind: what it may hold.
        default: what counts when it is not set, in words; None when there is nothing.
        unit: the unit of a number.
        products: the products that it is documented for; None for all.
        read_by: who looks at it.
        interactions: what else it has to do with.
        facts: the entries of the fact file about it.
        page: the page of the vendor's documentation; None where it has none.
        severity: how bad a value is that is not of the kind.
        consequence: what the runtime does with such a value, where it is known.
    """

    name: str
    meaning: str
    kind: Kind
    default: Optional[str] = None
    unit: Optional[str] = None
    products: Optional[FrozenSet[Product]] = None
    read_by: Tuple[str, ...] = ()
    interactions: Tuple[str, ...] = ()
    facts: Tuple[str, ...] = ()
    page: Optional[str] = None
    severity: Severity = Severity.ERROR
    consequence: Optional[str] = None

    def is_for(self, product: Product) -> bool:
        """Whether it is documented for a product (300I Duo is an inference product)."""
        if self.products is None or product in self.products:
            return True
        return product is Product.ATLAS_300I_DUO and Product.ATLAS_INFERENCE in self.products


def family(pages: str, **common: Any) -> Callable[..., Variable]:
    """What declares the variables of a family: they have much in common, and a page each.

    Args:
        pages: the folder of their pages.
        common: what they have in common; each may say otherwise.
    """

    def member(name: str, meaning: str, kind: Kind, **own: Any) -> Variable:
        return Variable(name, meaning, kind, **{"page": pages + name + ".md", **common, **own})

    return member
