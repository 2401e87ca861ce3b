"""What the ranks get from a collective, computed from what each of them gave.

Everything is done in the order of the group, in the type of the data.
"""

from typing import Any, Callable, Dict, List, Mapping, Sequence, Tuple

from npu_config.core.message import phrase
from npu_config.tf1.rank_frames import described

Given = Mapping[int, Tuple[Dict[str, Any], List[Any]]]
"""Rank to the head and the arrays that it sent."""


class MismatchError(Exception):
    """The ranks do not do the same."""


def results(members: Sequence[int], given: Given) -> Dict[int, List[Any]]:
    """The arrays that each rank gets.

    Args:
        members: the ranks, in the order of the group.
        given: what each of them gave; the head has ``kind``, and for it ``reduction``,
            ``root``, ``shapes`` (of a broadcast, where only the root sends arrays).

    Raises:
        MismatchError: the ranks disagree; the text says in what.
    """
    said = {rank: _said(*given[rank]) for rank in members}
    if len(set(said.values())) > 1:
        raise MismatchError(
            phrase(
                "the ranks do not do the same: {}",
                "; ".join(phrase("rank {}: {}", rank, said[rank]) for rank in members),
            )
        )
    head = given[members[0]][0]
    arrays = [given[rank][1] for rank in members]
    found = _KINDS[head["kind"]](head, arrays)
    return dict(zip(members, found))


def _said(head: Dict[str, Any], arrays: Sequence[Any]) -> str:
    """What has to be the same in all ranks, in words."""
    shapes = head.get("shapes") or [described(each) for each in arrays]
    if head["kind"] == "all_to_all_v":
        shapes = [(described(arrays[0])[0], ["?"])]
    what = [head["kind"], head.get("reduction") or ""]
    what.append(phrase("from rank {}", head["root"]) if "root" in head else "")
    what += ["{}{}".format(*each) for each in shapes[:8]]
    if len(shapes) > len(shapes[:8]):
        what.append(phrase("and {} more ({:08x})", len(shapes) - 8, _digest(shapes)))
    return " ".join(each for each in what if each)


def _digest(shapes: Sequence[Any]) -> int:
    import zlib

    return zlib.crc32(repr([list(each) for each in shapes]).encode())


def _reduced(head: Dict[str, Any], arrays: Sequence[List[Any]]) -> List[Any]:
    import numpy

    with numpy.errstate(all="ignore"):
        function = {
            "sum": numpy.add,
            "prod": numpy.multiply,
            "max": numpy.maximum,
            "min": numpy.minimum,
        }[head["reduction"]]
        found = [each.copy() for each in arrays[0]]
        for mine in arrays[1:]:
            for total, each in zip(found, mine):
                function(total, each, out=total)
    return found


def _allreduce(head: Dict[str, Any], arrays: Sequence[List[Any]]) -> List[List[Any]]:
    return [_reduced(head, arrays)] * len(arrays)


def _reduce(head: Dict[str, Any], arrays: Sequence[List[Any]]) -> List[List[Any]]:
    found = list(arrays)
    found[head["root"]] = _reduced(head, arrays)
    return found


def _reduce_scatter(head: Dict[str, Any], arrays: Sequence[List[Any]]) -> List[List[Any]]:
    size = len(arrays)
    if any(each.shape[0] % size for each in arrays[0]):
        raise MismatchError(
            phrase(
                "the first axis must be a multiple of {}, the number of ranks; got {}",
                size,
                " ".join(str(list(each.shape)) for each in arrays[0]),
            )
        )
    import numpy

    parts = [numpy.split(each, size) for each in _reduced(head, arrays)]
    return [[numpy.ascontiguousarray(part[rank]) for part in parts] for rank in range(size)]


def _allgather(head: Dict[str, Any], arrays: Sequence[List[Any]]) -> List[List[Any]]:
    import numpy

    return [[numpy.concatenate(each) for each in zip(*arrays)]] * len(arrays)


def _broadcast(head: Dict[str, Any], arrays: Sequence[List[Any]]) -> List[List[Any]]:
    return [arrays[head["root"]]] * len(arrays)


def _send(head: Dict[str, Any], arrays: Sequence[List[Any]]) -> List[List[Any]]:
    return [[], arrays[0]]


def _all_to_all_v(head: Dict[str, Any], arrays: Sequence[List[Any]]) -> List[List[Any]]:
    import numpy

    size = len(arrays)
    for rank, (_, *counts) in enumerate(arrays):
        if any(each.shape != (size,) or (each < 0).any() for each in counts):
            raise MismatchError(
                phrase("rank {} of the group needs {} counts and displacements from 0", rank, size)
            )
    found = []
    for to, (_, _, _, received, places) in enumerate(arrays):
        whole = numpy.zeros(int((received + places).max()), arrays[0][0].dtype)
        for source, (data, sent, starts, _, _) in enumerate(arrays):
            count, start, place = int(sent[to]), int(starts[to]), int(places[source])
            if count != received[source] or start + count > data.size:
                raise MismatchError(
                    phrase(
                        "rank {} sends {} elements from {} of its {}, and rank {} expects {}",
                        source,
                        count,
                        start,
                        data.size,
                        to,
                        int(received[source]),
                    )
                )
            whole[place : place + count] = data.reshape(-1)[start : start + count]
        found.append([whole])
    return found


_KINDS: Mapping[str, Callable[[Dict[str, Any], Sequence[List[Any]]], List[List[Any]]]] = {
    "allreduce": _allreduce,
    "reduce": _reduce,
    "reduce_scatter": _reduce_scatter,
    "allgather": _allgather,
    "broadcast": _broadcast,
    "send": _send,
    "all_to_all_v": _all_to_all_v,
}
