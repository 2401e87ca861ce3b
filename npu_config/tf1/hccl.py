"""The rank functions of HCCL: the device's answer, or the environment's without a device."""

from __future__ import annotations

from typing import Any

from npu_config.tf1 import ranks, vendor

WORLD = "hccl_world_group"


@vendor.stand_in("hccl")
def get_rank_size(group: str = WORLD) -> int:
    """The number of ranks of a group."""
    return _of_world("get_rank_size", group, ranks.job_size())


@vendor.stand_in("hccl")
def get_local_rank_size(group: str = WORLD) -> int:
    """The number of ranks of a group on this server."""
    return _of_world("get_local_rank_size", group, ranks.local_rank_size())


@vendor.stand_in("hccl")
def get_rank_id(group: str = WORLD) -> int:
    """The rank of this process in a group."""
    return _of_world("get_rank_id", group, ranks.rank_id())


@vendor.stand_in("hccl")
def get_local_rank_id(group: str = WORLD) -> int:
    """The rank of this process among those of a group on this server."""
    return _of_world("get_local_rank_id", group, ranks.local_rank_id())


def _of_world(name: str, group: str, value: int) -> int:
    """What is known of the whole job; of other groups only HCCL knows."""
    return value if group == WORLD else int(vendor.require("hccl", name)(group))


create_group: Any = vendor.late("hccl", "create_group")
destroy_group: Any = vendor.late("hccl", "destroy_group")
get_world_rank_from_group_rank: Any = vendor.late("hccl", "get_world_rank_from_group_rank")
get_group_rank_from_world_rank: Any = vendor.late("hccl", "get_group_rank_from_world_rank")
set_split_strategy_by_idx: Any = vendor.late("hccl", "set_split_strategy_by_idx")
set_split_strategy_by_size: Any = vendor.late("hccl", "set_split_strategy_by_size")
