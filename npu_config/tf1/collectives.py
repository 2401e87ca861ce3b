"""Collective operations in the graph of a rank that has others on this machine.

Each is one operation that hands NumPy arrays to :mod:`npu_config.tf1.rank_link`.  Its name is
made of the name of its input, so that ranks meet by what they compute, not by the order in
which they build or run their graphs.
"""

from __future__ import annotations

import functools
import operator
import re
from typing import Any, Callable, Dict, List, Optional, Sequence

from npu_config.tf1 import hccl, rank_link
from npu_config.tf1._lazy import errors, rules
from npu_config.tf1.tensorflow import require_graph_mode, tf

_SUMMED = "NpuConfigAllReduceGradient"
_NONE = "NpuConfigNoGradient"


def members(what: str, group: str, count: Optional[int] = None) -> List[int]:
    """The ranks that a collective is for, with this one among them.

    Args:
        what: the function that was called, for the message.
        group: the group's name.
        count: the number of ranks that the caller expects; None: whatever it is.

    Raises:
        NpuConfigError: there is no such group, or it has not this rank or this size.
    """
    found: List[int] = hccl.members_of(what, group)
    hccl.get_rank_id(group)
    if count is not None and count != len(found):
        hccl.refuse(
            '{}: rank_size is {}, and the group "{}" has {} ranks'.format(
                what, count, group, len(found)
            )
        )
    return found


def allreduce(tensors: Sequence[Any], reduction: str, ranks: Sequence[int]) -> List[Any]:
    """Each tensor reduced over ranks; all of them in one go."""
    head = {"kind": "allreduce", "reduction": reduction}
    return _run(head, "HcomAllReduce", tensors, ranks, gradient=_SUMMED)


def reduce(tensor: Any, reduction: str, root_rank: int, ranks: Sequence[int]) -> Any:
    """A tensor reduced over ranks for one of them; the others keep their own."""
    head = {"kind": "reduce", "reduction": reduction, "root": _root("reduce", root_rank, ranks)}
    return _run(head, "HcomReduce", [tensor], ranks)[0]


def reduce_scatter(tensor: Any, reduction: str, ranks: Sequence[int]) -> Any:
    """A share of the reduced tensor: the parts of the first axis go to the ranks in order."""
    head = {"kind": "reduce_scatter", "reduction": reduction}
    shape = _first_axis(tensor, lambda count: count // len(ranks))
    return _run(head, "HcomReduceScatter", [tensor], ranks, [shape])[0]


def allgather(tensors: Sequence[Any], ranks: Sequence[int]) -> List[Any]:
    """Each tensor of all ranks, joined along the first axis."""
    shapes = [_first_axis(each, lambda count: count * len(ranks)) for each in tensors]
    return _run({"kind": "allgather"}, "HcomAllGather", tensors, ranks, shapes)


def broadcast(tensors: Sequence[Any], root_rank: int, ranks: Sequence[int]) -> List[Any]:
    """The tensors of one rank."""
    head = {"kind": "broadcast", "root": _root("broadcast", root_rank, ranks)}
    return _run(head, "HcomBroadcast", tensors, ranks)


def send(tensor: Any, tag: int, route: Sequence[int]) -> Any:
    """An operation that hands a tensor from the first rank of a route to the second."""
    return _run({"kind": "send", "tag": tag}, "HcomSend", [tensor], route, [])[0]


def receive(shape: Sequence[int], dtype: Any, tag: int, route: Sequence[int]) -> Any:
    """The tensor that the first rank of a route sends to the second."""
    head = {"kind": "send", "tag": tag}
    return _run(head, "HcomReceive", [tf.zeros(shape, dtype)], route)[0]


def all_to_all_v(data: Any, counts: Sequence[Any], ranks: Sequence[int]) -> Any:
    """Parts of flat data, exchanged by counts and displacements, sent and received."""
    vectors = [tf.cast(each, tf.int64) for each in counts]
    head = {"kind": "all_to_all_v"}
    return _run(head, "HcomAllToAllV", [data, *vectors], ranks, [tf.TensorShape([None])])[0]


def _root(what: str, root_rank: Any, ranks: Sequence[int]) -> int:
    """The place of a root in its group, which is what scripts call its rank."""
    try:
        place = operator.index(root_rank)
    except TypeError:
        place = -1
    if not 0 <= place < len(ranks):
        hccl.refuse(
            "{}: root_rank must be an int from 0 to {}, got {!r}".format(
                what, len(ranks) - 1, root_rank
            )
        )
    return place


def _first_axis(tensor: Any, change: Callable[[int], int]) -> Any:
    """The shape of a tensor with another first axis."""
    if not tensor.shape.ndims:
        return tensor.shape
    first, *others = tensor.shape.as_list()
    return tf.TensorShape([None if first is None else change(first), *others])


def _run(
    head: Dict[str, Any],
    name: str,
    tensors: Sequence[Any],
    ranks: Sequence[int],
    shapes: Optional[Sequence[Any]] = None,
    gradient: str = _NONE,
) -> List[Any]:
    """Add a collective to the graph.

    Args:
        head: what the hub has to know of it.
        name: first part of the name of its operation.
        tensors: what this rank gives.
        ranks: those that take part, in their order.
        shapes: static shapes of the results, which have the types of the first tensors; None:
            those of the tensors; empty: there are no results.
        gradient: the registered gradient.

    Returns:
        The results; the operation where there are none.
    """
    require_graph_mode(name)
    _register()
    inputs = [_plain(name, each) for each in tensors]
    types = [tf.convert_to_tensor(each).dtype.base_dtype for each in tensors]
    shapes = [each.shape for each in inputs] if shapes is None else shapes
    head = {**head, "members": list(ranks)}

    def call(*arrays: Any) -> List[Any]:
        import numpy

        given = [numpy.asarray(each) for each in arrays]
        said = head
        if head["kind"] == "broadcast":
            said = {**head, "shapes": [rank_link.described(each) for each in given]}
            if not is_root:
                given = []
        return rank_link.link().call(said, given)

    place = rank_link.place()
    is_root = place is not None and ranks[head.get("root", 0)] == place[1]
    whole = "{}_{}".format(name, re.sub("[^A-Za-z0-9_.]", "_", inputs[0].name))
    graph = tf.get_default_graph()
    with graph.gradient_override_map({"PyFunc": gradient}):
        outputs = tf.numpy_function(
            call, inputs, [each.dtype for each in inputs[: len(shapes)]], name=whole
        )
    if not shapes:
        head["name"] = "send {}".format(head["tag"])
        return [outputs]
    operation = outputs[0].op
    head["name"] = "send {}".format(head["tag"]) if "tag" in head else operation.name
    for output, shape in zip(outputs, shapes):
        output.set_shape(shape)
    return [_as(output, dtype) for output, dtype in zip(outputs, types)]


def _plain(name: str, given: Any) -> Any:
    """A tensor of a type that NumPy has."""
    tensor = tf.convert_to_tensor(given)
    if tensor.dtype.base_dtype == tf.string:
        raise rules.collective_argument.error(
            "{}: tensors of text cannot be communicated".format(name), kind=errors.ArgumentError
        )
    return _as(tensor, tf.float32 if tensor.dtype.base_dtype == tf.bfloat16 else tensor.dtype)


def _as(tensor: Any, dtype: Any) -> Any:
    return tensor if tensor.dtype.base_dtype == dtype else tf.cast(tensor, dtype)


@functools.lru_cache(maxsize=None)
def _register() -> None:
    """Register the gradients, once."""

    @tf.RegisterGradient(_SUMMED)  # type: ignore[untyped-decorator]
    def summed(operation: Any, *gradients: Any) -> List[Any]:
        """As the adapter registers it: the sum over all ranks of the job, whatever was reduced."""
        return allreduce(gradients, "sum", members("allreduce", hccl.WORLD))

    @tf.RegisterGradient(_NONE)  # type: ignore[untyped-decorator]
    def none(operation: Any, *gradients: Any) -> None:
        raise LookupError(
            "No gradient defined for operation '{}'; of the collective operations, only "
            "allreduce has a gradient".format(operation.name)
        )
