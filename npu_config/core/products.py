"""The products that the vendor distinguishes, and the names that users give them."""

import enum
import functools
import re
from typing import Dict, FrozenSet, Tuple

from npu_config.core.message import join, phrase


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
    def _missing_(cls, value: object) -> "Product":
        legal = ", ".join(product.value for product in cls)
        found = _by_name().get(_plain(value), ()) if isinstance(value, str) else ()
        if len(found) == 1:
            return found[0]
        if found:
            problem = phrase(
                '"{}" may be {}; give one of them',
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

_NOISE = re.compile(
    r"[^a-z0-9]|huawei|ascend|atlas|model|training|inference|server|card|series|products?"
)


def _plain(name: str) -> str:
    return _NOISE.sub("", name[:80].lower())


@functools.lru_cache(maxsize=1)
def _by_name() -> Dict[str, Tuple[Product, ...]]:
    return {_plain(name): products for name, products in PRODUCT_NAMES.items()}
