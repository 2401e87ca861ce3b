"""Where the text form of a ConfigProto has what: places for diagnostics."""

from typing import Any, Dict, NamedTuple, Optional, Tuple

import attr

from npu_config.diagnostics import Place


class OptimizerPlaces(NamedTuple):
    """One ``custom_optimizers`` entry: its name (or itself), and per option key and value."""

    place: Place
    options: Dict[str, Tuple[Place, Place]]


@attr.s(frozen=True, slots=True, auto_attribs=True)
class TextPositions:
    """Places in one text, without its path.

    Args:
        place: the whole text.
        optimizers: one for each ``custom_optimizers`` entry, in order.
        fields: those of the session fields that are written out, by path.
    """

    place: Place
    optimizers: Tuple[OptimizerPlaces, ...] = ()
    fields: Any = attr.ib(factory=dict)

    def optimizer(self, index: int) -> Optional[OptimizerPlaces]:
        """The places of the entry with this index, if there are any."""
        return self.optimizers[index] if index < len(self.optimizers) else None
