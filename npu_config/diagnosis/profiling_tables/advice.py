"""What follows from an operator table for mixed precision: block list or cast.

A float16 ReduceSum may run on a single core.  Where float16 comes from mixed precision,
the operator type goes into the block list (ops_info.json, option ``modify_mixlist``);
where the network itself computes in float16, the block list changes nothing and the
input has to be cast to float32.
Source: docs/en/tfadapter_1/migration/faq/networktest_reducesum_low_performance.md.
"""

from typing import Dict, FrozenSet, Iterable, Optional, Tuple

import attr

from npu_config.diagnosis.profiling_tables.op_summary import (
    REDUCE_SUM,
    OneBlockOperator,
    OpSummary,
)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Advice:
    """What to change so that one-block float16 operators run in float32.

    Args:
        black_list: operator types for ``black-list`` / ``to-add`` of ops_info.json.
        casts: operators whose float16 is the network's own; their inputs need
            ``tf.cast(x, tf.float32)``.  Empty when no graph was given.
        share: the part of the whole time that the operators concerned took, 0 to 1.
        others: further one-block float16 types, by time; whether float32 makes them
            faster is not documented, so they are changed only when named.
    """

    black_list: Tuple[str, ...]
    casts: Tuple[OneBlockOperator, ...]
    share: float
    others: Tuple[str, ...]


def advise(
    summary: OpSummary,
    types: Optional[Iterable[str]] = None,
    float16_nodes: FrozenSet[str] = frozenset(),
) -> Advice:
    """What to change for the operators of ``summary``.

    Args:
        summary: the table.
        types: operator types to act on; None: ReduceSum and ReduceSumD, for which the
            slowness is documented.
        float16_nodes: nodes of the training graph that compute in float16 before any
            conversion (see :func:`npu_config.diagnose.float16_nodes`).
    """
    chosen = None if types is None else frozenset(types)

    def concerned(kind: str) -> bool:
        return kind in (REDUCE_SUM if chosen is None else chosen)

    black_list: Dict[str, None] = {}
    casts = []
    others: Dict[str, float] = {}
    for each in summary.operators:
        if not concerned(each.type):
            others[each.type] = others.get(each.type, 0.0) + each.total_us
            continue
        if each.name in float16_nodes:
            casts.append(each)
        else:
            black_list[each.type] = None
    kept = {each.type for each in summary.operators}
    black_list.update(
        (kind, None) for kind in summary.types if concerned(kind) and kind not in kept
    )
    # The totals of types are whole, the list of operators may not be.
    time = sum(total for kind, (_, total) in summary.types.items() if concerned(kind))
    return Advice(
        tuple(black_list),
        tuple(casts),
        time / (summary.total_us or 1.0),
        tuple(sorted(others, key=lambda t: -others[t])),
    )
