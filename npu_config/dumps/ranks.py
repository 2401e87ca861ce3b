"""The ranks of one job against each other, without a reference.

Every rank has the same weights, and after they were summed the same gradients: bit for bit.
What is computed from a rank's own data is not compared.
"""

import os
from typing import Callable, Optional, Sequence, Union

from npu_config.core.diagnostics import NpuConfigError, Place
from npu_config.core.message import listed, phrase
from npu_config.dumps import _rules as rules
from npu_config.dumps.compare import Comparing, Comparison, result_of
from npu_config.dumps.graph import GeGraph, GeOp
from npu_config.dumps.matching import UPDATES, VARIABLES
from npu_config.dumps.pairing import Selection, paired_ranks
from npu_config.dumps.reference import References
from npu_config.dumps.tree import Operator, find_dumps, no_dump
from npu_config.dumps.verdicts import NOT_COMPARED, Bounds
from npu_config.text.source import PathLike

_SUMMED = ("AllReduce", "Broadcast", "AllGather")


def compare_ranks(
    npu: PathLike,
    graph: Union[PathLike, GeGraph, None] = None,
    *,
    step: Optional[int] = None,
    run: Optional[str] = None,
    ignore: Sequence[str] = (),
    progress: Optional[Callable[[int, int], None]] = None,
) -> Comparison:
    """Compare the devices of a dump with the first of them.

    Compared are outputs of all-reduce, broadcast and all-gather, everything that optimizers
    read and write, and with a graph the weights that operators read.

    Args:
        npu: the dump of a job with several devices.
        graph: as :func:`~npu_config.dumps.compare.compare_dumps` has it.
        step: the iteration to compare; None: all.
        run: the run of the dump; None: the newest of each device.
        ignore: patterns of operators that are compared and do not count.
        progress: gets how many of how many files of the dump are done.

    Raises:
        NpuConfigError: there is one device only, or nothing that has to be equal.
        ImportError: numpy is missing.
    """
    path = os.fspath(npu)
    tree = find_dumps(npu)
    if all(file.kind == "overflow" for file in tree):
        raise NpuConfigError([no_dump(tree, path)])
    chosen, first = paired_ranks(tree, Selection(step, run=run), path)
    references = References(path, True, first)
    work = Comparing(references, graph, Bounds(), ignore, shared)
    for pair in work.through(chosen.pairs, progress):
        work.compare(pair)
    if all(row.verdict == NOT_COMPARED for row in work.rows):
        message = "nothing that has to be equal on all ranks was dumped, such as {}"
        text = phrase(message, listed(["HcomAllReduce", "ApplyMomentum"]))
        help_ = 'dump the optimizer and the collectives (dump_mode "all")'
        raise rules.nothing_to_compare.error(text, Place(path), help=help_)
    return result_of(work, chosen.left_out, list(tree.diagnostics), path)


def shared(
    operator: Operator, op: Optional[GeOp], side: str, number: int, graph: Optional[GeGraph]
) -> bool:
    """True for a tensor that every rank has."""
    if operator.op_type.startswith(UPDATES):
        return True
    if side == "output":
        return any(word in operator.op_type for word in _SUMMED)
    edge = None if op is None or number >= len(op.inputs) else op.inputs[number]
    made = None if graph is None or edge is None else graph.find(edge[0])
    return made is not None and made.type in VARIABLES
