"""Who wants to know that a script asks for ranks, which the device only knows once initialised."""

from typing import Callable, List

askers: List[Callable[[str], None]] = []
"""Called with the name of the function that the script has called."""


def asked(name: str) -> None:
    """Tell the askers of a function that the script has called.

    Args:
        name: that of the function.
    """
    for each in list(askers):
        each(name)
