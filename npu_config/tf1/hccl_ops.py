"""``hccl_ops``: collective communication; with one rank, each operation gives its input back."""

from __future__ import annotations

from typing import Any, List, Sequence

from npu_config.tf1 import ranks, vendor

GROUP = "hccl_world_group"


@vendor.stand_in("hccl_ops")
def allreduce(
    tensor: Any, reduction: str, fusion: int = 1, fusion_id: int = -1, group: str = GROUP
) -> Any:
    """Reduce a tensor over all ranks, for all of them."""
    ranks.require_one_rank("hccl_ops.allreduce")
    return tensor


@vendor.stand_in("hccl_ops")
def allgather(
    tensor: Any, rank_size: int, group: str = GROUP, fusion: int = 0, fusion_id: int = -1
) -> Any:
    """Join the tensors of all ranks, for all of them."""
    ranks.require_one_rank("hccl_ops.allgather")
    return tensor


@vendor.stand_in("hccl_ops")
def broadcast(
    tensor: Sequence[Any],
    root_rank: int,
    fusion: int = 2,
    fusion_id: int = 0,
    group: str = GROUP,
) -> List[Any]:
    """Give all ranks the tensors of one; ``tensor`` is a list, and so is the result."""
    ranks.require_one_rank("hccl_ops.broadcast")
    return list(tensor)


@vendor.stand_in("hccl_ops")
def reduce(
    tensor: Any,
    reduction: str,
    root_rank: int,
    fusion: int = 0,
    fusion_id: int = -1,
    group: str = GROUP,
) -> Any:
    """Reduce a tensor over all ranks, for one of them."""
    ranks.require_one_rank("hccl_ops.reduce")
    return tensor


@vendor.stand_in("hccl_ops")
def reduce_scatter(
    tensor: Any,
    reduction: str,
    rank_size: int,
    group: str = GROUP,
    fusion: int = 0,
    fusion_id: int = -1,
) -> Any:
    """Reduce a tensor over all ranks, a share for each of them."""
    ranks.require_one_rank("hccl_ops.reduce_scatter")
    return tensor


__getattr__ = vendor.names_of("hccl_ops")
