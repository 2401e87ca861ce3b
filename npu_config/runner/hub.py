"""Where the ranks of a job on this machine meet: what each gives, and what all get.

A collective is known by its name in the graph and how often its rank has called it, not by
when it comes: TensorFlow runs a graph in another order in each rank.  Results are computed
once, in the order of the ranks and in the type of the data, so that all ranks hold the same bits.
"""

import contextlib
import os
import socket
import threading
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple

import attr

from npu_config.core.message import join, listed, phrase
from npu_config.tf1 import rank_link
from npu_config.tf1.rank_link import described

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
                "the ranks execute different operations: {}",
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
        what.append(phrase("and {} more (checksum {:08x})", len(shapes) - 8, _digest(shapes)))
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
                phrase(
                    "rank {} of the group requires {} counts and displacements that are not "
                    "negative",
                    rank,
                    size,
                )
            )
    found = []
    for to, (_, _, _, received, places) in enumerate(arrays):
        whole = numpy.zeros(int((received + places).max()), arrays[0][0].dtype)
        for source, (data, sent, starts, _, _) in enumerate(arrays):
            count, start, place = int(sent[to]), int(starts[to]), int(places[source])
            if count != received[source] or start + count > data.size:
                raise MismatchError(
                    phrase(
                        "rank {} sends {} elements from offset {} of its {} elements, but "
                        "rank {} expects {}",
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

PATIENCE = 30.0
"""Seconds that all ranks wait and compute nothing before they are told so."""


@attr.s(slots=True, auto_attribs=True)
class _Caller:
    """A process that is connected."""

    connection: socket.socket
    rank: int
    pid: int
    sending: Any = attr.ib(factory=threading.Lock)


@attr.s(slots=True, auto_attribs=True)
class _Call:
    """A collective that not all of its ranks have come to."""

    name: str
    members: Tuple[int, ...]
    given: Dict[int, Tuple[_Caller, Dict[str, Any], List[Any]]] = attr.ib(factory=dict)


class Hub:
    """The meeting place of a job.

    A rank sends the head ``name`` (of the operation), ``kind``, ``members`` (the ranks that
    take part, in their order), ``number`` (of its answer), and what :mod:`reductions` needs
    for the kind, with its arrays.  It gets arrays, or an ``error``.

    Args:
        path: of the socket to listen on.
        size: number of ranks.
        patience: seconds, see :data:`PATIENCE`.
        busy: the seconds of CPU time of a process; None where that is not known.
    """

    def __init__(
        self,
        path: str,
        size: int,
        patience: float = PATIENCE,
        busy: Optional[Callable[[int], Optional[float]]] = None,
    ) -> None:
        self._left: Dict[int, str] = {}
        self._stopping = False
        self._over = ""
        self._size = size
        self._patience = patience
        self._busy = busy or cpu_seconds
        self._callers: List[_Caller] = []
        self._counts: Dict[Tuple[Any, ...], int] = {}
        self._calls: Dict[Tuple[Any, ...], _Call] = {}
        self._failed: Dict[Tuple[Any, ...], str] = {}
        self.refused: Dict[int, str] = {}
        """The last error that each rank was answered with."""
        self.finished: Dict[str, int] = {}
        """How many collectives of each kind all their ranks have come to."""
        self._lock = threading.Lock()
        self._quiet: Optional[Tuple[float, float]] = None
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(path)
        self._listener.listen(size)
        self._start(self._accept)

    @staticmethod
    def _start(function: Callable[..., None], *arguments: Any) -> None:
        threading.Thread(target=function, args=arguments, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        try:
            head, _ = rank_link.receive(connection)
            caller = _Caller(connection, head["rank"], head["pid"])
            with self._lock:
                self._callers.append(caller)
            while True:
                self._arrived(caller, *rank_link.receive(connection))
        except rank_link.ClosedError:
            connection.close()
            with self._lock:
                self._callers = [each for each in self._callers if each.connection != connection]

    def _arrived(self, caller: _Caller, head: Dict[str, Any], arrays: List[Any]) -> None:
        name, members, rank = head["name"], tuple(head["members"]), caller.rank
        with self._lock:
            self._quiet = None
            mine = rank, name, members
            count = self._counts[mine] = self._counts.get(mine, 0) + 1
            key = name, members, count
            call = self._calls.setdefault(key, _Call(name, members))
            call.given[rank] = caller, head, arrays
            error = self._over or self._failed.get(key) or self._missing(call)
            complete = len(call.given) == len(call.members)
            if error or complete:
                del self._calls[key]
            if error:
                self._failed[key] = error
        if error:
            self._refuse(call, error)
        elif complete:
            self._finish(call)

    def _missing(self, call: _Call) -> Optional[str]:
        gone = [each for each in call.members if each in self._left and each not in call.given]
        if not gone:
            return None
        return phrase(
            "rank {} {}, but {} waits for this rank in {}",
            gone[0],
            self._left[gone[0]],
            _some(sorted(call.given)),
            _quoted(call.name),
        )

    def _finish(self, call: _Call) -> None:
        given = {rank: (head, arrays) for rank, (_, head, arrays) in call.given.items()}
        try:
            computed = results(call.members, given)
        except Exception as error:  # none may go on waiting
            self._refuse(call, phrase("{}: {}", _quoted(call.name), error))
            return
        kind = next(iter(given.values()))[0]["kind"]
        with self._lock:
            self.finished[kind] = self.finished.get(kind, 0) + 1
        for rank, (caller, head, _) in call.given.items():
            self._answer(caller, {"number": head["number"]}, computed[rank])

    def _refuse(self, call: _Call, error: str) -> None:
        for caller, head, _ in call.given.values():
            self.refused[caller.rank] = error
            answer = {"number": head["number"], "error": error, "stopped": self._stopping}
            self._answer(caller, answer, [])

    @staticmethod
    def _answer(caller: _Caller, head: Dict[str, Any], arrays: List[Any]) -> None:
        try:
            with caller.sending:
                rank_link.send(caller.connection, head, arrays)
        except OSError:  # it has ended; who started it sees that
            pass

    def left(self, rank: int, how: str, stopping: bool = False) -> None:
        """A rank has ended: who waits for it is told, now and later.

        Args:
            rank: the rank.
            how: what to say of it, e.g. ``"has ended with exit code 0"``.
            stopping: it was stopped as asked, and so are those that wait for it.
        """
        with self._lock:
            self._left[rank] = how
            self._stopping = self._stopping or stopping
            found = [(key, call, self._missing(call)) for key, call in self._calls.items()]
            ended = [(key, call, error) for key, call, error in found if error]
            for key, _, error in ended:
                del self._calls[key]
                self._failed[key] = error
        for _, call, error in ended:
            self._refuse(call, error)

    def end(self, why: str) -> None:
        """Tell everybody who waits, now and later, that there is nothing to wait for."""
        for rank in range(self._size):
            self.left(rank, why)

    def waiting(self) -> Mapping[int, List[str]]:
        """The collectives that each rank waits in, by name."""
        with self._lock:
            return self._waiting()

    def _waiting(self) -> Dict[int, List[str]]:
        found: Dict[int, List[str]] = {}
        for call in self._calls.values():
            for rank in call.given:
                found.setdefault(rank, []).append(call.name)
        return found

    def check(self) -> None:
        """Tell the ranks when all of them wait, each for another; to be called now and then."""
        with self._lock:
            waiting = self._waiting()
            now, cpu = time.monotonic(), self._cpu()
            alive: Set[int] = set(range(self._size)) - set(self._left)
            since, then = self._quiet or (now, cpu)
            if not alive or set(waiting) != alive or cpu - then > (now - since) / 5:
                self._quiet = None
                return
            self._quiet = since, then
            if now - since < self._patience:
                return
            stuck, self._calls = self._calls, {}
            self._over = text = phrase(
                "the ranks wait for each other: {}",
                "; ".join(
                    phrase("rank {} in {}", rank, listed(map(_quoted, sorted(names)[:4])))
                    for rank, names in sorted(waiting.items())
                ),
            )
        for call in stuck.values():
            self._refuse(call, text)

    def _cpu(self) -> float:
        return sum(self._busy(caller.pid) or 0.0 for caller in self._callers)

    def close(self) -> None:
        """Hear nobody any more."""
        with self._lock:
            connections = [self._listener, *(caller.connection for caller in self._callers)]
        for each in connections:
            with contextlib.suppress(OSError):  # it has gone already
                each.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def cpu_seconds(pid: int) -> Optional[float]:
    """The CPU time of a process and all its threads; None where the system does not tell."""
    try:
        with open("/proc/{}/stat".format(pid), "rb") as stream:
            fields = stream.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _quoted(name: str) -> str:
    return '"{}"'.format(name)


def _some(ranks: List[int]) -> str:
    return phrase("rank {}" if len(ranks) == 1 else "ranks {}", join(" and ", map(str, ranks)))
