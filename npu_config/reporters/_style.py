"""How a report is printed."""

from typing import NamedTuple


class Style(NamedTuple):
    """What matters to the text report only.

    ``color``: use the colours of a terminal.  ``notes``: show findings that are information, and
    not just their number.  ``hints``: end with what can be done next.
    """

    color: bool = False
    notes: bool = True
    hints: bool = False


PLAIN = Style()
