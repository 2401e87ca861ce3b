"""``hccl.manage.api`` and ``hccl.split.api`` with one rank: answers, and checks of arguments."""

import pytest

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def hccl(tensorflow):
    """The module; groups that a test makes are forgotten."""
    from npu_config.tf1 import hccl

    yield hccl
    hccl._GROUPS.clear()


def test_one_rank(hccl):
    """The world has one rank, and so has a group of it."""
    hccl.create_group("mine", 1, [0])
    for group in (hccl.WORLD, "mine"):
        assert hccl.get_rank_size(group) == 1
        assert hccl.get_rank_id(group) == 0
        assert hccl.get_local_rank_size(group) == 1
        assert hccl.get_local_rank_id(group) == 0
        assert hccl.get_world_rank_from_group_rank(group, 0) == 0
        assert hccl.get_group_rank_from_world_rank(0, group) == 0
    hccl.destroy_group("mine")
    with pytest.raises(ValueError, match="mine"):
        hccl.get_rank_size("mine")


def test_ranks_of_the_environment(hccl, monkeypatch):
    """Of several ranks the environment knows the world; a group of them needs the vendor."""
    monkeypatch.setenv("RANK_SIZE", "4")
    monkeypatch.setenv("RANK_ID", "2")
    assert (hccl.get_rank_size(), hccl.get_rank_id()) == (4, 2)
    assert hccl.get_world_rank_from_group_rank(hccl.WORLD, 3) == 3
    hccl.create_group("alone", 1, [2])
    assert (hccl.get_rank_size("alone"), hccl.get_rank_id("alone")) == (1, 0)
    assert hccl.get_world_rank_from_group_rank("alone", 0) == 2
    with pytest.raises(RuntimeError, match="create_group"):
        hccl.create_group("pair", 2, [2, 3])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_rank_size", ("",)),
        ("get_rank_id", (1,)),
        ("get_local_rank_id", ("x" * 128,)),
        ("get_rank_size", ("unknown",)),
        ("create_group", ("", 1, [0])),
        ("create_group", ("g", 0, [])),
        ("create_group", ("g", 1.0, [0])),
        ("create_group", ("g", 1, (0,))),
        ("create_group", ("g", 2, [0])),
        ("create_group", ("g", 1, [-1])),
        ("create_group", ("hccl_world_group", 1, [0])),
        ("destroy_group", ("unknown",)),
        ("destroy_group", ("hccl_world_group",)),
        ("get_world_rank_from_group_rank", ("hccl_world_group", -1)),
        ("get_world_rank_from_group_rank", ("hccl_world_group", 1)),
        ("get_group_rank_from_world_rank", (1, "hccl_world_group")),
        ("set_split_strategy_by_idx", ((1, 2),)),
        ("set_split_strategy_by_idx", ([],)),
        ("set_split_strategy_by_idx", ([1.5],)),
        ("set_split_strategy_by_idx", ([-1],)),
        ("set_split_strategy_by_idx", ([2**32],)),
        ("set_split_strategy_by_idx", ([20, 20],)),
        ("set_split_strategy_by_idx", ([1], "")),
        ("set_split_strategy_by_size", ((60, 40),)),
        ("set_split_strategy_by_size", ([],)),
        ("set_split_strategy_by_size", (["100"],)),
        ("set_split_strategy_by_size", ([-1, 101],)),
        ("set_split_strategy_by_size", ([60, 20],)),
        ("set_split_strategy_by_size", ([0.1] * 1000,)),
    ],
)
def test_refused(name, arguments, hccl):
    """What HCCL's own checks refuse is a ValueError that says what is legal."""
    with pytest.raises(ValueError, match="NPU829"):
        getattr(hccl, name)(*arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("allreduce", ([1.0], "mean"), "min, max, prod, sum"),
        ("reduce", ([1.0], "avg", 0), "min, max, prod, sum"),
        ("reduce_scatter", ([1.0], "mean", 1), "min, max, prod, sum"),
        ("reduce_scatter", ([1.0], "sum", 0), "rank_num"),
        ("allgather", ([1.0], 0), "rank_num"),
        ("broadcast", (1.0, 0), "list of tensors"),
        ("send", ([1.0], 0, 1), "installed"),
        ("receive", ([1], "float32", 0, 1), "installed"),
    ],
)
def test_refused_collectives(name, arguments, said, tf):
    """What the operators of the adapter refuse is refused with one rank, too."""
    from npu_config.tf1 import hccl_ops

    with pytest.raises((ValueError, TypeError), match=said):
        getattr(hccl_ops, name)(*arguments)


def test_exchange_with_one_rank(tf):
    """One rank gets the part that it sends to itself, at its place."""
    from npu_config.tf1 import hccl_ops

    data = tf.range(6)
    with tf.Session() as session:
        placed = session.run(hccl_ops.all_to_all_v(data, [2], [3], [2], [1]))
        assert placed.tolist() == [0, 3, 4]
        assert session.run(hccl_ops.all_to_all_v_c(data, [[4]], 0)).tolist() == [0, 1, 2, 3]


def test_splits(hccl):
    """Right strategies pass, and do nothing without a device."""
    assert hccl.set_split_strategy_by_idx([20, 100]) is None
    assert hccl.set_split_strategy_by_size([60, 20, 20]) is None
    assert hccl.set_split_strategy_by_size([0, 99.5, 0.5], "hccl_world_group") is None
