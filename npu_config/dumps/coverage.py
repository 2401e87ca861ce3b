"""How much of a dump a comparison has seen: what was not compared is no all-clear.

Some tensors have no counterpart by their nature: constants, and what the compiler inserted.
Of the operators of the network that have none it is counted what that leaves open.  A fault in
one of them mostly shows in those that follow, which were compared.  That is not so where more
than half are missing, where the last ones are, or where the reference has one that cannot be
read: what agrees is said then, and the comparison is a finding.
"""

from collections import Counter
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

from npu_config.dumps.matching import APART, UNREAD, UPDATES
from npu_config.dumps.verdicts import NOT_COMPARED


class Coverage(NamedTuple):
    """How many operators of the network were compared.

    Args:
        compared: how many were.
        missing: those that were not, in the order of execution.
        is_enough: False when what was compared does not speak for the rest.
        reason: why most of ``missing`` were not compared; "" without any.
    """

    compared: int = 0
    missing: Tuple[str, ...] = ()
    is_enough: bool = True
    reason: str = ""


NOTHING_MISSING = Coverage()


def coverage_of(rows: Sequence[Any], exact: bool = False) -> Coverage:
    """How much of one step of one model was compared.

    An operator counts as compared when one of its outputs was, its own or at the inputs of
    others; one that was dumped without outputs when one of its inputs was.

    Args:
        rows: in the order of execution.
        exact: every tensor has to be compared, as between ranks.
    """
    outputs: Dict[str, List[Any]] = {}
    inputs: Dict[str, List[Any]] = {}
    seen = set()
    for row in rows:
        (outputs if row.side == "output" else inputs).setdefault(row.op_name, []).append(row)
        if row.side == "input" and row.verdict != NOT_COMPARED:
            seen.add(row.producer)
    missing: Dict[str, str] = {}
    compared, last = 0, True
    for name in dict.fromkeys(row.op_name for row in rows):
        here = outputs.get(name) or inputs[name]
        gaps = [row for row in here if row.verdict == NOT_COMPARED]
        if name in seen or (len(gaps) < len(here) and not (exact and gaps)):
            compared, last = compared + 1, True
        elif any(row.gap != APART for row in gaps):
            missing[name] = next(row.reason for row in gaps if row.gap != APART)
            last = last and gaps[0].op_type.startswith(UPDATES)
    unread = any(row.gap == UNREAD for row in rows)
    half = len(missing) <= compared
    is_enough = not missing if exact else half and last and not unread
    return Coverage(compared, tuple(missing), is_enough, most_common(list(missing.values())))


def most_common(texts: Sequence[str]) -> str:
    """What is there most often, the first of several; "" without any."""
    return next((text for text, _ in Counter(texts).most_common(1)), "")
