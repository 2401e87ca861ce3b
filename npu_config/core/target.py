"""The machine a configuration is meant for: product, run mode, CANN version."""

import enum
from typing import FrozenSet, Optional, Union

import attr


class Product(enum.Enum):
    """The product families that the vendor's documentation distinguishes.

    Source: the product tables of docs/en/tfadapter_1/apiref/session_config.
    """

    ASCEND_950 = "ascend_950"
    ATLAS_A3 = "atlas_a3"
    ATLAS_A2 = "atlas_a2"
    ATLAS_TRAINING = "atlas_training"
    ATLAS_INFERENCE = "atlas_inference"
    ATLAS_300I_DUO = "atlas_300i_duo"


ALL_PRODUCTS: FrozenSet[Product] = frozenset(Product)
MODES = ("training", "online_inference")


def _product(value: Union[Product, str, None]) -> Optional[Product]:
    if value is None or isinstance(value, Product):
        return value
    try:
        return Product(value)
    except ValueError:
        legal = ", ".join(product.value for product in Product)
        raise ValueError('unknown product "{}"; legal: {}'.format(value, legal)) from None


def _mode(_: object, __: object, value: Optional[str]) -> None:
    if value is not None and value not in MODES:
        raise ValueError('unknown mode "{}"; legal: {}'.format(value, ", ".join(MODES)))


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Target:
    """Where and how the job will run; every field narrows what the rules may say.

    Args:
        product: a :class:`Product` or its text, e.g. ``"atlas_a2"``; None: any product.
            Product-limited rules then speak only when every product agrees.
        mode: ``"training"`` or ``"online_inference"``; None: as ``graph_run_mode`` says.
        cann: version text of CANN, e.g. ``"8.5.0"``; None: any.

    Raises:
        ValueError: for an unknown product or mode, naming the legal ones.
    """

    product: Optional[Product] = attr.ib(default=None, converter=_product)
    mode: Optional[str] = attr.ib(default=None, validator=_mode)
    cann: Optional[str] = None

    @property
    def products(self) -> FrozenSet[Product]:
        """The products it may be: one, or all."""
        return ALL_PRODUCTS if self.product is None else frozenset((self.product,))


ANY_TARGET = Target()
