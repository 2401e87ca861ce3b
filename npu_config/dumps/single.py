"""Two single files against each other: dumps or ``.npy`` files."""

import os
from typing import Iterator, List, Optional, Tuple, Union

import attr

from npu_config.core.diagnostics import NpuConfigError, Place
from npu_config.core.message import join, phrase
from npu_config.core.paths import PathLike
from npu_config.dumps import _rules as rules
from npu_config.dumps.alignment import Aligned, ShapeMismatchError, aligned, aligned_arrays
from npu_config.dumps.compare import Comparison, Part, Row, first_of
from npu_config.dumps.dump import Tensor, read_dump
from npu_config.dumps.layouts import math_prod
from npu_config.dumps.reference import Array, array_of, of_tensor
from npu_config.dumps.tree import Folder
from npu_config.dumps.verdicts import (
    COSINE,
    DIVERGES,
    NOT_COMPARED,
    Bounds,
    judge,
    kind_of,
    limits_of,
)

Content = Union[Tensor, Array]
Named = Tuple[str, int, Content]


def compare_files(
    one: PathLike,
    other: PathLike,
    threshold: Optional[float] = None,
    max_abs: Optional[float] = None,
    max_rel: Optional[float] = None,
) -> Comparison:
    """Compare two files: of dumps inputs and outputs by number, of ``.npy`` files the array.

    Args:
        one: a dump or a ``.npy`` file.
        other: what it is compared with.
        threshold: as :func:`~npu_config.dumps.compare.compare_dumps` has it, as the others.
        max_abs: how much one element may be off.
        max_rel: the largest relative distance.

    Raises:
        NpuConfigError: a file cannot be read, or has no counterpart in the other.
        ImportError: numpy is missing.
    """
    bounds = Bounds(threshold, max_abs, max_rel)
    name, tensors = _content(os.fspath(one))
    label, others = _content(os.fspath(other))
    pairs = list(_together(tensors, others))
    rows = [_row(name, label, mine, there, bounds) for mine, there in pairs]
    if all(row.verdict == NOT_COMPARED for row in rows):
        reasons = [row.reason for row in rows if row.reason]
        text = reasons[0] if reasons else phrase("the files have no tensor in common")
        raise rules.nothing_to_compare.error(text, Place(os.fspath(one)))
    counts = {row.verdict: 0 for row in rows}
    for row in rows:
        counts[row.verdict] += 1
    first, here = first_of(rows), Folder(None, None, None, None, None)
    part = Part(here, here, counts, first, NOT_COMPARED)
    return Comparison(
        tuple(rows),
        first.name,
        () if first.name is None else (first.name,),
        threshold=COSINE if threshold is None else threshold,
        parts=(part,),
        left_out=(
            *_alone(one, tensors, [mine for mine, _ in pairs]),
            *_alone(other, others, [there for _, there in pairs]),
        ),
        bounds=bounds,
        inputs_agree=first.inputs_agree,
        is_single=True,
    )


def _content(path: str) -> Tuple[str, List[Named]]:
    """The name of what is in a file, and its tensors."""
    if path.endswith(".npy"):
        name = os.path.basename(path)
        return name, [("output", 0, array_of(path, name))]
    dump = read_dump(path)
    return dump.op_name or os.path.basename(path), list(dump.tensors())


def _alone(path: PathLike, tensors: List[Named], compared: List[Named]) -> Iterator[str]:
    """What has no counterpart in the other file, in words."""
    there = {(side, number) for side, number, _ in compared}
    for side, number, _ in tensors:
        if (side, number) not in there:
            yield phrase("{}:{}: exists only in {}", side, number, os.fspath(path))


def _together(ours: List[Named], theirs: List[Named]) -> Iterator[Tuple[Named, Named]]:
    """Tensors of the same side and number; an array with the first of as many elements."""
    if any(isinstance(content, Array) for _, _, content in (*ours, *theirs)):
        pairs = [(mine, there) for mine in reversed(ours) for there in reversed(theirs)]
        sizes = [pair for pair in pairs if _elements(pair[0][2]) == _elements(pair[1][2])]
        outputs = [pair for pair in sizes or pairs if pair[0][0] == pair[1][0] == "output"]
        yield from (outputs or sizes or pairs)[-1:]
        return
    found = {each[:2]: each for each in theirs}
    for each in ours:
        if each[:2] in found:
            yield each, found[each[:2]]


def _elements(content: Content) -> int:
    if isinstance(content, Array):
        return math_prod(content.shape)
    return math_prod(content.original_shape or content.shape)


def _aligned(mine: Content, theirs: Content) -> Aligned:
    if isinstance(mine, Tensor):
        return aligned(mine, of_tensor(theirs) if isinstance(theirs, Tensor) else theirs)
    if isinstance(theirs, Array):
        return aligned_arrays(mine, theirs)
    both = aligned(theirs, mine)
    return both._replace(pairs=lambda: ((x, y) for y, x in both.pairs()))


def _row(name: str, label: str, one: Named, other: Named, bounds: Bounds) -> Row:
    side, number, mine = one
    theirs = other[2]
    types = mine.data_type, theirs.data_type
    kind = kind_of(name, "", *types)
    shape = mine.shape if isinstance(mine, Array) else mine.original_shape or mine.shape
    reference = "{}:{}:{}".format(label, side, number)
    row = Row(
        0, name, "", side, number, types[0], reference, types[1], (name,), shape, NOT_COMPARED
    )
    row = attr.evolve(row, kind=kind, matched_by="name")
    try:
        both = _aligned(mine, theirs)
        metrics, judged = judge(both.pairs, limits_of(kind, *types, bounds), both.shape)
    except ShapeMismatchError as error:
        return attr.evolve(row, verdict=DIVERGES, reason=str(error), causes=("shape",))
    except NpuConfigError as error:
        return attr.evolve(row, reason=error.diagnostics[0].message)
    return attr.evolve(
        row,
        shape=both.shape,
        verdict=judged.verdict,
        metrics=metrics,
        reason=join("; ", filter(None, [judged.reason, both.remark])),
        causes=judged.causes,
    )
