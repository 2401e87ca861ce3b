"""``hccl_ops``: collective communication.

With one rank each operation gives its input back; in a job of ``npu-config run --ranks`` the
ranks communicate.  Arguments are checked as the adapter's operators check them.
"""

from __future__ import annotations

from typing import Any, List, Optional, Sequence

from npu_config.tf1 import collectives, hccl, ranks, vendor
from npu_config.tf1._lazy import errors, rules
from npu_config.tf1.operands import operand
from npu_config.tf1.tensorflow import tf

GROUP = "hccl_world_group"
REDUCTIONS = ("min", "max", "prod", "sum")
_REDUCED = ("int8", "int16", "int32", "int64", "float16", "float32", "bfloat16")
_GATHERED = (*_REDUCED, "uint8", "uint16", "uint32", "uint64", "float64")


@vendor.stand_in("hccl_ops")
def allreduce(
    tensor: Any, reduction: str, fusion: int = 1, fusion_id: int = -1, group: str = GROUP
) -> Any:
    """Reduce a tensor over all ranks, for all of them.

    Args:
        tensor: int8, int16, int32, int64, float16, float32 or bfloat16.
        reduction: ``"sum"``, ``"prod"``, ``"max"`` or ``"min"``.
        fusion: how the device merges communication; of no effect here.
        fusion_id: as ``fusion``.
        group: the communication group.

    Raises:
        NpuConfigError: an argument is wrong.
        VendorError: there are several ranks, and nothing that connects them.
    """
    check_reduction("allreduce", reduction)
    given = reducible("allreduce", tensor)
    members = _members("allreduce", group)
    if members is None:
        return tf.identity(given)
    return collectives.allreduce([given], reduction, members)[0]


@vendor.stand_in("hccl_ops")
def allgather(
    tensor: Any, rank_size: int, group: str = GROUP, fusion: int = 0, fusion_id: int = -1
) -> Any:
    """Join the tensors of all ranks along the first axis, for all of them.

    One rank that names several joins its own as often.

    Args:
        tensor: of the same shape in all ranks, with an axis at least.
        rank_size: the number of ranks of the group.
        group: the communication group.
        fusion: of no effect here.
        fusion_id: as ``fusion``.

    Raises:
        NpuConfigError: an argument is wrong.
        VendorError: there are several ranks, and nothing that connects them.
    """
    hccl.check_rank_num(rank_size)
    given = _with_axis("allgather", tensor, _GATHERED)
    members = _members("allgather", group, rank_size)
    if members is None:
        return tf.concat([given] * rank_size, axis=0)
    return collectives.allgather([given], members)[0]


@vendor.stand_in("hccl_ops")
def broadcast(
    tensor: Sequence[Any],
    root_rank: int,
    fusion: int = 2,
    fusion_id: int = 0,
    group: str = GROUP,
) -> Any:
    """Give all ranks the tensors of one.

    Args:
        tensor: a list; variables may be in it.
        root_rank: the rank in the group whose values count.
        fusion: of no effect here.
        fusion_id: as ``fusion``.
        group: the communication group.

    Returns:
        A list of as many tensors; an operation for none.

    Raises:
        ArgumentError: ``tensor`` is no list.
        NpuConfigError: another argument is wrong.
        VendorError: there are several ranks, and nothing that connects them.
    """
    if not isinstance(tensor, (list, tuple)):
        raise rules.collective_argument.error(
            "broadcast: tensor must be a list of tensors, got {!r}".format(tensor),
            kind=errors.ArgumentError,
        )
    if not tensor:
        return tf.no_op()
    members = _members("broadcast", group)
    if members is None:
        return [tf.identity(each) for each in tensor]
    return collectives.broadcast(tensor, root_rank, members)


@vendor.stand_in("hccl_ops")
def reduce(
    tensor: Any,
    reduction: str,
    root_rank: int,
    fusion: int = 0,
    fusion_id: int = -1,
    group: str = GROUP,
) -> Any:
    """Reduce a tensor over all ranks, for one of them; the others keep their own.

    Args:
        tensor: as for :func:`allreduce`.
        reduction: as for :func:`allreduce`.
        root_rank: the rank in the group that gets it.
        fusion: of no effect here.
        fusion_id: as ``fusion``.
        group: the communication group.

    Raises:
        NpuConfigError: an argument is wrong.
        VendorError: there are several ranks, and nothing that connects them.
    """
    check_reduction("reduce", reduction)
    given = reducible("reduce", tensor)
    members = _members("reduce", group)
    if members is None:
        return tf.identity(given)
    return collectives.reduce(given, reduction, root_rank, members)


@vendor.stand_in("hccl_ops")
def reduce_scatter(
    tensor: Any,
    reduction: str,
    rank_size: int,
    group: str = GROUP,
    fusion: int = 0,
    fusion_id: int = -1,
) -> Any:
    """Reduce a tensor over all ranks, a share for each of them.

    One rank that names several gets the first share of its own.

    Args:
        tensor: as for :func:`allreduce`; its first axis is a multiple of ``rank_size``.
        reduction: as for :func:`allreduce`.
        rank_size: the number of ranks of the group.
        group: the communication group.
        fusion: of no effect here.
        fusion_id: as ``fusion``.

    Raises:
        NpuConfigError: an argument is wrong.
        VendorError: there are several ranks, and nothing that connects them.
    """
    check_reduction("reduce_scatter", reduction)
    hccl.check_rank_num(rank_size)
    given = _with_axis("reduce_scatter", tensor, _REDUCED)
    first = given.shape.as_list()[0] if given.shape.ndims else None
    if first is not None and first % rank_size:
        hccl.refuse(
            "reduce_scatter: the first axis must be a multiple of rank_size {}, got {}".format(
                rank_size, given.shape
            )
        )
    members = _members("reduce_scatter", group, rank_size)
    if members is None:
        return tf.split(given, rank_size)[0]
    return collectives.reduce_scatter(given, reduction, members)


@vendor.stand_in("hccl_ops")
def send(tensor: Any, sr_tag: int, dest_rank: int, group: str = GROUP) -> Any:
    """An operation that hands a tensor to another rank; it ends when that has received it.

    Args:
        tensor: the tensor.
        sr_tag: the number that the receiver names, too.
        dest_rank: the receiver, a rank in the group.
        group: the communication group.

    Raises:
        VendorError: there is one rank, or nothing that connects several.
    """
    route = [ranks.rank_id(), _other("send", group, "dest_rank", dest_rank)]
    given = operand("send", tensor, _GATHERED, rules.collective_argument)
    return collectives.send(given, sr_tag, route)


@vendor.stand_in("hccl_ops")
def receive(
    shape: Sequence[int], data_type: Any, sr_tag: int, src_rank: int, group: str = GROUP
) -> Any:
    """The tensor that another rank sends.

    Args:
        shape: its shape, known in full.
        data_type: its type.
        sr_tag: the number that the sender names, too.
        src_rank: the sender, a rank in the group.
        group: the communication group.

    Raises:
        VendorError: there is one rank, or nothing that connects several.
    """
    route = [_other("receive", group, "src_rank", src_rank), ranks.rank_id()]
    return collectives.receive(shape, data_type, sr_tag, route)


@vendor.stand_in("hccl_ops")
def all_to_all_v(
    send_data: Any,
    send_counts: Any,
    send_displacements: Any,
    recv_counts: Any,
    recv_displacements: Any,
    group: str = GROUP,
) -> Any:
    """Exchange parts of flat data between all ranks.

    Args:
        send_data: the data.
        send_counts: for each rank how many elements it gets.
        send_displacements: for each rank where they begin in the data.
        recv_counts: for each rank how many elements come from it.
        recv_displacements: for each rank where they are put in the result.
        group: the communication group.

    Raises:
        VendorError: there are several ranks, and nothing that connects them.
    """
    counts = [send_counts, send_displacements, recv_counts, recv_displacements]
    members = _members("all_to_all_v", group)
    if members is not None:
        return collectives.all_to_all_v(tf.reshape(send_data, [-1]), counts, members)
    count, start, _, place = (tf.cast(each, tf.int32)[0] for each in counts)
    part = tf.reshape(send_data, [-1])[start : start + count]
    return tf.pad(part, [[place, 0]])


@vendor.stand_in("hccl_ops")
def all_to_all_v_c(
    send_data: Any,
    send_count_matrix: Any,
    rank: int,
    fusion: int = 0,
    fusion_id: int = -1,
    group: str = GROUP,
) -> Any:
    """Exchange parts of flat data between all ranks, by one matrix of counts.

    Args:
        send_data: the data, the parts for each rank one after another.
        send_count_matrix: row i, column j: how many elements rank i sends to rank j.
        rank: the rank of this process in the group.
        fusion: of no effect here.
        fusion_id: as ``fusion``.
        group: the communication group.

    Raises:
        VendorError: there are several ranks, and nothing that connects them.
    """
    matrix = tf.cast(send_count_matrix, tf.int64)
    sent, received = matrix[rank], matrix[:, rank]
    return all_to_all_v(
        send_data,
        sent,
        tf.cumsum(sent, exclusive=True),
        received,
        tf.cumsum(received, exclusive=True),
        group,
    )


def check_reduction(what: str, reduction: Any, legal: Sequence[str] = REDUCTIONS) -> None:
    """Refuse what is no reduction (NpuConfigError)."""
    if reduction not in legal:
        hccl.refuse(
            "{}: reduction must be one of {}, got {!r}".format(what, ", ".join(legal), reduction)
        )


def reducible(what: str, given: Any) -> Any:
    """A tensor of a type that can be reduced on the device.

    Args:
        what: the function that was called, for the message.
        given: a tensor, or what becomes one.

    Raises:
        ArgumentError: it has another type.
    """
    return operand(what, given, _REDUCED, rules.collective_argument)


def _with_axis(what: str, given: Any, types: Sequence[str]) -> Any:
    tensor = operand(what, given, types, rules.collective_argument)
    if tensor.shape.ndims == 0:
        hccl.refuse("{} requires a tensor with an axis, got a scalar".format(what))
    return tensor


def _members(what: str, group: str, count: Optional[int] = None) -> Optional[List[int]]:
    """The ranks that a collective is for; None where this one is alone."""
    if not ranks.several("hccl_ops." + what):
        return None
    return collectives.members(what, group, count)


def _other(what: str, group: str, name: str, place: Any) -> int:
    """The rank at a place in a group, which is not this one."""
    members = _members(what, group)
    if members is None:
        vendor.require("hccl_ops", what)
        members = collectives.members(what, group)
    if not isinstance(place, int) or not 0 <= place < len(members):
        hccl.refuse(
            "{} must be an int from 0 to {}, got {!r}".format(name, len(members) - 1, place)
        )
    if members[place] == ranks.rank_id():
        hccl.refuse("{} is {}, which is this rank itself".format(name, place))
    return members[place]


__getattr__ = vendor.rest_of("hccl_ops", "npu_bridge.hccl.hccl_ops")
