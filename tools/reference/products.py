"""Which product a chip or a server is."""

from typing import Dict, List

from npu_config.core.versions import PRODUCT_NAMES, Product
from tools.reference.markdown import NOTE, table


def render() -> str:
    """The page."""
    alone: Dict[Product, List[str]] = {product: [] for product in Product}
    shared = []
    for name, found in PRODUCT_NAMES.items():
        if len(found) == 1:
            alone[found[0]].append(name)
        else:
            shared.append((name, ", ".join("`{}`".format(product.value) for product in found)))
    rows = [("`{}`".format(product.value), ", ".join(names)) for product, names in alone.items()]
    return "\n".join(
        [
            NOTE,
            "# Which product am I on?\n",
            (
                "Many options and values exist on some products only. Tell npu_config yours by "
                "its name, or by that of the chip or server: `--target 910B`, "
                '`Target(product="Atlas 800T A2")`, `product:` in a configuration file. '
                "Case, blanks and a leading `Ascend` do not matter.\n"
            ),
            table(("product", "chips and servers"), rows),
            "",
            "These names are of several products; give the product itself:\n",
            table(("name", "may be"), shared),
            "",
            (
                "On the host, `npu-smi info` prints the name of the chip, and `npu-config doctor` "
                "what it finds of the driver and the toolkit.\n"
            ),
        ]
    )
