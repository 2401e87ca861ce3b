"""``hccl.manage.api`` and ``hccl.split.api``: ranks, groups of ranks, the split of gradients.

On the NPU host HCCL answers; without a device the environment and the rank table do.
"""

from __future__ import annotations

import functools
import sys
from typing import Any, Callable, Dict, List, NoReturn

from npu_config.core.findings import rank_listeners, tell_of_ranks
from npu_config.tf1 import ranks, vendor
from npu_config.tf1._lazy import rules

__version__ = "0.1.0"

WORLD = "hccl_world_group"
MAX_GROUP_NAME_LEN = 127
MAX_VALUE_UINT32 = 2**32 - 1

_WHOLE = 100
_GROUPS: Dict[str, List[int]] = {}


def refuse(message: str) -> NoReturn:
    """Raise for an argument that a collective cannot work with (NpuConfigError)."""
    raise rules.collective_argument.error(message)


def check_group(group: Any) -> None:
    """Refuse what is not the name of a group (NpuConfigError)."""
    if not isinstance(group, str) or not 0 < len(group) <= MAX_GROUP_NAME_LEN:
        refuse(
            "group must be text of 1 to {} characters, got {!r}".format(MAX_GROUP_NAME_LEN, group)
        )


def check_rank_num(rank_num: Any) -> None:
    """Refuse what is not a number of ranks (NpuConfigError)."""
    if not isinstance(rank_num, int) or rank_num <= 0:
        refuse("rank_num must be an int from 1, got {!r}".format(rank_num))


def check_rank_id(rank_id: Any) -> None:
    """Refuse what is not a rank (NpuConfigError)."""
    if not isinstance(rank_id, int) or rank_id < 0:
        refuse("a rank must be an int from 0, got {!r}".format(rank_id))


def _asks(function: Callable[..., int]) -> Callable[..., int]:
    """Decorates a function that asks the device for ranks, and stands for the vendor's one."""
    stand_in = vendor.stand_in("hccl")(function)

    @functools.wraps(function)
    def ask(*args: Any, **kwargs: Any) -> int:
        caller = str(sys._getframe(1).f_globals.get("__name__"))
        if rank_listeners and caller.partition(".")[0] != _PACKAGE:
            tell_of_ranks(function.__name__)
        return stand_in(*args, **kwargs)

    return ask


_PACKAGE = __name__.partition(".")[0]


def members_of(name: str, group: str) -> List[int]:
    """The ranks of a group, which is the whole job or was created here.

    Args:
        name: the function that asks, for the message.
        group: the name of the group.

    Raises:
        NpuConfigError: there is no such group.
    """
    check_group(group)
    if group in _GROUPS:
        return _GROUPS[group]
    if group != WORLD:
        refuse(
            '{}: there is no group "{}"; create the group with create_group'.format(name, group)
        )
    return list(range(ranks.job_size()))


@_asks
def get_rank_size(group: str = WORLD) -> int:
    """The number of ranks of a group."""
    return len(members_of("get_rank_size", group))


@_asks
def get_local_rank_size(group: str = WORLD) -> int:
    """The number of ranks of a group on this server."""
    members = members_of("get_local_rank_size", group)
    return ranks.local_rank_size() if group == WORLD else len(members)


@_asks
def get_rank_id(group: str = WORLD) -> int:
    """The rank of this process in a group."""
    members, mine = members_of("get_rank_id", group), ranks.rank_id()
    return mine if group == WORLD else _place(mine, members, group)


@_asks
def get_local_rank_id(group: str = WORLD) -> int:
    """The rank of this process among those of a group on this server."""
    members = members_of("get_local_rank_id", group)
    return ranks.local_rank_id() if group == WORLD else _place(ranks.rank_id(), members, group)


@vendor.stand_in("hccl")
def create_group(group: str, rank_num: int, rank_ids: List[int]) -> None:
    """Make a group of ranks of the job.

    Args:
        group: its name, 1 to 127 characters.
        rank_num: how many ranks it has.
        rank_ids: the ranks, a list.

    Raises:
        NpuConfigError: an argument is wrong, the name is taken, or the job has no such rank.
        VendorError: the group has other ranks than this process, and nothing connects them.
    """
    check_group(group)
    check_rank_num(rank_num)
    if not isinstance(rank_ids, list):
        refuse("rank_ids must be a list, got {!r}".format(rank_ids))
    if len(rank_ids) != rank_num:
        refuse("rank_num is {}, but rank_ids has {} ranks".format(rank_num, len(rank_ids)))
    for rank in rank_ids:
        check_rank_id(rank)
    if group == WORLD or group in _GROUPS:
        refuse('the group "{}" already exists'.format(group))
    if rank_ids != [ranks.rank_id()] and ranks.several("create_group", max(len(rank_ids), 2)):
        wrong = [rank for rank in rank_ids if rank >= ranks.job_size()]
        if wrong or len(set(rank_ids)) < len(rank_ids):
            refuse(
                "rank_ids must be different ranks from 0 to {}, got {!r}".format(
                    ranks.job_size() - 1, rank_ids
                )
            )
    _GROUPS[group] = list(rank_ids)


@vendor.stand_in("hccl")
def destroy_group(group: str) -> None:
    """Forget a group."""
    check_group(group)
    if group not in _GROUPS:
        refuse('destroy_group: the group "{}" was not created'.format(group))
    del _GROUPS[group]


@_asks
def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """The rank in the job of a rank of a group."""
    check_group(group)
    check_rank_id(group_rank_id)
    members = members_of("get_world_rank_from_group_rank", group)
    if group_rank_id >= len(members):
        refuse('the group "{}" has {} ranks, not {}'.format(group, len(members), group_rank_id))
    return members[group_rank_id]


@_asks
def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """The rank in a group of a rank of the job."""
    check_group(group)
    check_rank_id(world_rank_id)
    return _place(world_rank_id, members_of("get_group_rank_from_world_rank", group), group)


def _place(rank: int, members: List[int], group: str) -> int:
    if rank not in members:
        refuse('rank {} is not in the group "{}"'.format(rank, group))
    return members.index(rank)


@vendor.stand_in("hccl")
def set_split_strategy_by_idx(idxList: List[int], group: str = WORLD) -> None:
    """Cut the communication of gradients after these numbers of gradients.

    Without a device nothing is communicated; the arguments are checked.

    Args:
        idxList: ascending numbers from 0 to 2**32 - 1.
        group: the group that communicates.

    Raises:
        NpuConfigError: an argument is wrong.
    """
    check_group(group)
    _check_list("idxList", idxList)
    for index in idxList:
        if not isinstance(index, int) or not 0 <= index <= MAX_VALUE_UINT32:
            refuse("idxList must hold ints from 0 to 2**32 - 1, got {!r}".format(index))
    if any(first >= second for first, second in zip(idxList, idxList[1:])):
        refuse("idxList must be strictly ascending, got {!r}".format(idxList))


@vendor.stand_in("hccl")
def set_split_strategy_by_size(dataSizeList: List[float], group: str = WORLD) -> None:
    """Cut the communication of gradients by shares of their data.

    Without a device nothing is communicated; the arguments are checked.

    Args:
        dataSizeList: percentages whose sum is exactly 100.
        group: the group that communicates.

    Raises:
        NpuConfigError: an argument is wrong.
    """
    check_group(group)
    _check_list("dataSizeList", dataSizeList)
    for size in dataSizeList:
        if not isinstance(size, (int, float)) or size < 0:
            refuse("dataSizeList must hold numbers from 0, got {!r}".format(size))
    if sum(dataSizeList) != _WHOLE:
        refuse("dataSizeList must add up to exactly 100, got {!r}".format(sum(dataSizeList)))


def _check_list(name: str, value: Any) -> None:
    if not isinstance(value, list) or not value:
        refuse("{} must be a list that is not empty, got {!r}".format(name, value))
