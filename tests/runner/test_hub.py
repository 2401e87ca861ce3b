"""Where ranks meet: results, what is said when they do not do the same, and never a hang."""

import threading
import time

import pytest

from npu_config.core.diagnostics import NpuConfigError
from npu_config.runner.hub import Hub
from npu_config.tf1.rank_link import RankConnection

numpy = pytest.importorskip("numpy")

FUNCTIONS = {
    "sum": numpy.add,
    "prod": numpy.multiply,
    "max": numpy.maximum,
    "min": numpy.minimum,
}


class Job:
    """A hub and a connection for each rank."""

    def __init__(self, path, size, **options):
        self.hub = Hub(str(path / "hub"), size, **options)
        self.links = [RankConnection(str(path / "hub"), rank) for rank in range(size)]

    def all(self, *calls):
        """What each rank gets from its call, (head, arrays), or the text of its error."""
        found = [None] * len(calls)

        def run(rank, head, arrays):
            try:
                found[rank] = self.links[rank].call(
                    {"name": "op", "members": list(range(len(self.links))), **head}, arrays
                )
            except NpuConfigError as error:
                found[rank] = error.diagnostics[0].message

        threads = [
            threading.Thread(target=run, args=(rank, *call))
            for rank, call in enumerate(calls)
            if call is not None
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        return found


@pytest.fixture
def job(tmp_path):
    """Makes a job of some ranks."""
    made = []

    def make(size, **options):
        made.append(Job(tmp_path, size, **options))
        return made[0]

    yield make
    made[0].hub.close()


def data(size, dtype, shape=(4, 3)):
    """Different numbers for each rank."""
    random = numpy.random.RandomState(7)
    return [(random.rand(*shape) * 9 - 3).astype(dtype) for _ in range(size)]


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "float16", "float32"])
@pytest.mark.parametrize("reduction", FUNCTIONS)
def test_reductions(job, size, dtype, reduction):
    """Each reduction is that of NumPy in rank order, the same bits in all ranks."""
    given = data(size, dtype)
    expected = given[0]
    for each in given[1:]:
        expected = FUNCTIONS[reduction](expected, each)
    found = job(size).all(
        *[({"kind": "allreduce", "reduction": reduction}, [each]) for each in given]
    )
    assert [expected.tobytes()] * size == [each.tobytes() for (each,) in found]
    assert {(dtype, (4, 3))} == {(each.dtype.name, each.shape) for (each,) in found}


def test_other_kinds(job):
    """Broadcast, gathering, scattering, reducing for one, sending, exchanging parts."""
    ranks = job(2)
    one, two = data(2, "float32")

    def both(head):
        return ranks.all((head, [one]), (head, [two]))

    def lists(found):
        return [[each.tolist() for each in arrays] for arrays in found]

    shapes = {"shapes": [["float32", [4, 3]]]}
    received = ranks.all(
        ({"kind": "broadcast", "root": 1, **shapes}, []),
        ({"kind": "broadcast", "root": 1, **shapes}, [two]),
    )
    assert lists([[two], [two]]) == lists(received)
    joined = numpy.concatenate([one, two])
    assert lists([[joined], [joined]]) == lists(both({"kind": "allgather"}))
    total = one + two
    scattered = both({"kind": "reduce_scatter", "reduction": "sum"})
    assert lists([[total[:2]], [total[2:]]]) == lists(scattered)
    reduced = both({"kind": "reduce", "reduction": "sum", "root": 1})
    assert lists([[one], [total]]) == lists(reduced)
    assert lists([[], [one]]) == lists(both({"kind": "send"}))
    mine = [numpy.arange(3.0), *map(numpy.array, ([1, 2], [0, 1], [1, 1], [0, 1]))]
    theirs = [numpy.arange(3.0, 5.0), *map(numpy.array, ([1, 1], [0, 1], [2, 1], [0, 2]))]
    exchanged = ranks.all(*[({"kind": "all_to_all_v"}, each) for each in (mine, theirs)])
    assert lists(exchanged) == [[[0.0, 3.0]], [[1.0, 2.0, 4.0]]]


def test_names_not_order(job):
    """Ranks that call in another order meet by name, and by how often each has called."""
    ranks = job(2)
    head = {"kind": "allreduce", "reduction": "sum", "members": [0, 1]}
    found = {}

    def run(rank, name, value):
        array = numpy.array([value])
        found[rank, name, value] = ranks.links[rank].call({**head, "name": name}, [array])[0][0]

    def start(rank, *calls):
        thread = threading.Thread(target=lambda: [run(rank, *each) for each in calls])
        thread.start()
        return thread

    threads = [
        start(0, ("a", 1), ("a", 2)),
        start(0, ("b", 5)),
        start(1, ("b", 10), ("a", 20), ("a", 30)),
    ]
    for each in threads:
        each.join()
    assert [
        found[each]
        for each in (
            (0, "a", 1),
            (1, "a", 20),
            (0, "a", 2),
            (1, "a", 30),
            (0, "b", 5),
            (1, "b", 10),
        )
    ] == [21, 21, 32, 32, 15, 15]


def test_groups(job):
    """The same operation of two groups is two operations; order is that of the group."""
    ranks = job(4)
    given = data(4, "int32", (2,))
    groups = [[1, 0], [1, 0], [2, 3], [2, 3]]
    found = ranks.all(
        *[({"kind": "allgather", "members": group}, [each]) for group, each in zip(groups, given)]
    )
    expected = [numpy.concatenate([given[rank] for rank in group]).tolist() for group in groups]
    assert expected == [each.tolist() for (each,) in found]


@pytest.mark.parametrize(
    ("mine", "theirs", "said"),
    [
        (("allreduce", "sum", "f4", 3), ("allreduce", "sum", "f4", 4), "float32[3]; rank 1"),
        (("allreduce", "sum", "f4", 3), ("allreduce", "sum", "i4", 3), "int32[3]"),
        (("allreduce", "sum", "f4", 3), ("allreduce", "max", "f4", 3), "allreduce max"),
        (("allreduce", "sum", "f4", 3), ("allgather", "", "f4", 3), "allgather"),
        (("reduce_scatter", "sum", "f4", 3), ("reduce_scatter", "sum", "f4", 3), "multiple of 2"),
    ],
)
def test_mismatch(job, mine, theirs, said):
    """Ranks that do not do the same are all told the same, with what each does."""
    calls = [
        ({"kind": kind, "reduction": reduction}, [numpy.zeros(count, dtype)])
        for kind, reduction, dtype, count in (mine, theirs)
    ]
    first, second = job(2).all(*calls)
    assert first == second
    assert '"op": ' in first
    assert said in first


def test_a_rank_that_left(job):
    """Who waits for a rank that has ended is told so, and who comes later, too."""
    ranks = job(2)
    head = {"kind": "allreduce", "reduction": "sum"}
    threading.Timer(0.2, ranks.hub.left, (1, "has ended")).start()
    for _ in range(2):
        found, _ = ranks.all((head, [numpy.zeros(1)]), None)
        assert found == 'rank 1 has ended, but rank 0 waits for this rank in "op"'
    assert ranks.links[0].stopped is False
    ranks.hub.left(1, "has ended", stopping=True)
    ranks.all((head, [numpy.zeros(1)]), None)
    assert ranks.links[0].stopped is True


def test_ranks_that_wait_for_each_other(job):
    """When all wait and none computes, all are told who waits where; then none waits again."""
    ranks = job(2, patience=0.3, busy=lambda pid: 0.0)
    ended = threading.Event()

    def watch():
        while not ended.wait(0.05):
            ranks.hub.check()

    threading.Thread(target=watch).start()
    head = {"kind": "allreduce", "reduction": "sum"}
    calls = [({**head, "name": name}, [numpy.zeros(1)]) for name in "ab"]
    try:
        for _ in range(2):
            assert (ranks.all(*calls)) == [
                'the ranks wait for each other: rank 0 in "a"; rank 1 in "b"'
            ] * 2
    finally:
        ended.set()


def test_ranks_that_compute_are_left_alone(job):
    """As long as a rank uses the processor, the others may wait."""
    began = time.monotonic()
    ranks = job(2, patience=0.1, busy=lambda pid: time.monotonic() - began)
    head = {"kind": "allreduce", "reduction": "sum"}
    waiting = threading.Thread(
        target=ranks.all, args=(({**head, "name": "a"}, [numpy.zeros(1)]), None)
    )
    waiting.start()
    other = threading.Thread(
        target=ranks.all, args=(None, ({**head, "name": "b"}, [numpy.zeros(1)]))
    )
    other.start()
    for _ in range(6):
        time.sleep(0.05)
        ranks.hub.check()
    assert ranks.hub.waiting() == {0: ["a"], 1: ["b"]}
    ranks.hub.end("was interrupted")
    waiting.join()
    other.join()


def test_a_hub_that_goes(job):
    """When the hub goes away, who waits is told."""
    ranks = job(2)
    threading.Timer(0.2, ranks.hub.close).start()
    head = {"kind": "allreduce", "reduction": "sum"}
    found, _ = ranks.all((head, [numpy.zeros(1)]), None)
    assert "npu-config run, which started the ranks, has ended" in found
