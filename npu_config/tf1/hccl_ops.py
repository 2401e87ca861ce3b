"""``hccl_ops``: collective communication.

With one rank each operation gives its input back; in a job of ``npu-config run --ranks`` the
ranks communicate.  Arguments are checked as the adapter's operators check them.
"""

from __future__ import annotations

from typing import Any, Sequence

from npu_config.tf1 import hccl, ranks, vendor
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
    _check_reduction("allreduce", reduction)
    given = reducible("allreduce", tensor)
    if not ranks.several("hccl_ops.allreduce"):
        return tf.identity(given)
    from npu_config.tf1 import collectives

    members = collectives.members("allreduce", group)
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
    if not ranks.several("hccl_ops.allgather"):
        return tf.concat([given] * rank_size, axis=0)
    from npu_config.tf1 import collectives

    members = collectives.members("allgather", group, rank_size)
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
    if not ranks.several("hccl_ops.broadcast"):
        return [tf.identity(each) for each in tensor]
    from npu_config.tf1 import collectives

    return collectives.broadcast(tensor, root_rank, collectives.members("broadcast", group))


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
    _check_reduction("reduce", reduction)
    given = reducible("reduce", tensor)
    if not ranks.several("hccl_ops.reduce"):
        return tf.identity(given)
    from npu_config.tf1 import collectives

    members = collectives.members("reduce", group)
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
    _check_reduction("reduce_scatter", reduction)
    hccl.check_rank_num(rank_size)
    given = _with_axis("reduce_scatter", tensor, _REDUCED)
    first = given.shape.as_list()[0] if given.shape.ndims else None
    if first is not None and first % rank_size:
        hccl.refuse(
            "reduce_scatter: the first axis must be a multiple of rank_size {}, got {}".format(
                rank_size, given.shape
            )
        )
    if not ranks.several("hccl_ops.reduce_scatter"):
        return tf.split(given, rank_size)[0]
    from npu_config.tf1 import collectives

    members = collectives.members("reduce_scatter", group, rank_size)
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
    collectives, members = _of_several("send", group)
    route = [ranks.rank_id(), members[_other("dest_rank", dest_rank, members)]]
    return collectives.send(
        operand("send", tensor, _GATHERED, rules.collective_argument), sr_tag, route
    )


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
    collectives, members = _of_several("receive", group)
    route = [members[_other("src_rank", src_rank, members)], ranks.rank_id()]
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
    if ranks.several("hccl_ops.all_to_all_v"):
        from npu_config.tf1 import collectives

        members = collectives.members("all_to_all_v", group)
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


def _check_reduction(what: str, reduction: Any) -> None:
    if reduction not in REDUCTIONS:
        hccl.refuse(
            "{}: reduction must be one of {}, got {!r}".format(
                what, ", ".join(REDUCTIONS), reduction
            )
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
        hccl.refuse("{} takes a tensor with an axis, got a scalar".format(what))
    return tensor


def _of_several(what: str, group: str) -> Any:
    """The collectives and the ranks of a group, where there are several."""
    if not ranks.several("hccl_ops." + what):
        vendor.require("hccl_ops", what)
    from npu_config.tf1 import collectives

    return collectives, collectives.members(what, group)


def _other(name: str, rank: Any, members: Sequence[int]) -> int:
    """A place in a group that is not that of this rank."""
    if not isinstance(rank, int) or not 0 <= rank < len(members):
        hccl.refuse(
            "{} must be an int from 0 to {}, got {!r}".format(name, len(members) - 1, rank)
        )
    if members[rank] == ranks.rank_id():
        hccl.refuse("{} is {}, this very rank".format(name, rank))
    return rank


__getattr__ = vendor.rest_of("hccl_ops", "npu_bridge.hccl.hccl_ops")
