"""What the ranks of a job did: noted by each of them, and compared by what started them.

A rank notes its graphs by line, the order of its runs and first values, as plain values that a
report can hold, and only where there are other ranks.
"""

import zlib
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.message import listed, phrase
from npu_config.diagnosis.graph import operators
from npu_config.diagnosis.graph.live import LiveNode, of_graph
from npu_config.diagnosis.graph.model import Node
from npu_config.diagnosis.graph.run import TRAINS, RunGraph, is_collective
from npu_config.situations import ranks as situations
from npu_config.tf1.purpose import operations_of

Line = str
"""A file and a line, ``"train.py:10"``."""

_SWITCHES = frozenset(("Switch", "RefSwitch"))
_VARIABLES = ("VariableV2", "Variable", "VarHandleOp")
_BY_HAND = frozenset(("AssignSub", "AssignSubVariableOp"))
_MOST_RUNS = 5_000
_BROADCAST = "HcomBroadcast"


class Doings:
    """What a rank did that the others must do alike.

    Args:
        read: gives the values of tensors in a session, unseen.
    """

    def __init__(self, read: Callable[[Any, Sequence[Any]], Sequence[Any]]) -> None:
        self._read = read
        self._calls: List[Dict[str, Any]] = []
        self._order: List[List[int]] = []
        self._made: Dict[Line, int] = {}
        self._counts: Dict[int, int] = {}
        self._values: Optional[Dict[str, List[Any]]] = None
        self._has_broadcast = self._is_after_broadcast = False
        self.wrapped: Optional[Line] = None

    def look(self, session: Any, run: RunGraph, line: Line) -> Optional[int]:
        """The graph of a run that is made for the first time.

        Args:
            session: the session.
            run: its graph.
            line: the line that runs it.

        Returns:
            Its number, for :meth:`runs`; None for one that each rank may run as it likes.
        """
        collectives = [node for node in run.every() if is_collective(node)]
        if run.purpose != TRAINS and not collectives:
            return None
        self._look_at_graph(session.graph, run)
        prints: Dict[Line, int] = {}
        for node in run.graph.main:
            if isinstance(node, LiveNode):
                at = _line(run, node)
                prints[at] = (prints.get(at, 0) + _print(node)) & 0xFFFFFFFF
        alone = None
        if run.purpose == TRAINS:
            alone = _not_averaged(run, _trainable(session.graph))
            if self._values is None:
                self._values = self._first_values(session, run)
                self._is_after_broadcast = self._has_broadcast
        self._calls.append(
            {
                "line": line,
                "trains": run.purpose == TRAINS,
                "collective": bool(collectives),
                "broadcasts": any(_kind(node).startswith(_BROADCAST) for node in collectives),
                "summary": any("Summary" in node.op for node in run.every()),
                "prints": prints,
                "operations": len(run.graph.main.nodes),
                "alone": None if alone is None else _line(run, alone),
            }
        )
        return len(self._calls) - 1

    def runs(self, number: int) -> None:
        """A run is about to be made.

        Args:
            number: of the run, as :meth:`look` gave it.
        """
        self._has_broadcast = self._has_broadcast or self._calls[number]["broadcasts"]
        if self._order and self._order[-1][0] == number:
            self._order[-1][1] += 1
        elif len(self._order) < _MOST_RUNS:
            self._order.append([number, 1])

    def _look_at_graph(self, graph: Any, run: RunGraph) -> None:
        operations = graph.get_operations()
        known = of_graph(graph)
        for operation in operations[self._counts.get(id(graph), 0) :]:
            node = known.node_of(operation)
            at = _line(run, node)
            self._made[at] = (self._made.get(at, 0) + zlib.crc32(node.op.encode())) & 0xFFFFFFFF
        self._counts[id(graph)] = len(operations)

    def _first_values(self, session: Any, run: RunGraph) -> Dict[str, List[Any]]:
        """The values of the variables of a training run before it, as checksums."""
        trained = _trainable(session.graph)
        tensors: Dict[str, Tuple[Any, LiveNode]] = {}
        for node in run.graph.main:
            if node.op in _VARIABLES and isinstance(node, LiveNode):
                tensor = _value(node)
                if tensor is not None and (tensor.dtype.is_floating or tensor.dtype.is_integer):
                    tensors[node.name] = tensor, node
        try:
            values = self._read(session, [tensor for tensor, _ in tensors.values()])
        except Exception:  # not initialised: the run itself will say so
            return {}
        return {
            name: [
                zlib.crc32(value.tobytes()),
                name in trained,
                _line(run, node),
                bool(tensor.dtype.is_integer),
            ]
            for (name, (tensor, node)), value in zip(tensors.items(), values)
        }

    def to_dict(self) -> Dict[str, Any]:
        """What the report of a rank holds of it."""
        return {
            "calls": self._calls,
            "order": self._order,
            "made": self._made,
            "values": self._values or {},
            "after_broadcast": self._is_after_broadcast,
            "wrapped": self.wrapped,
        }


def _line(run: RunGraph, node: Node) -> Line:
    place = run.place(node)
    return "{}:{}".format(place.path, place.line)


def _print(node: LiveNode) -> int:
    """A number for what an operation is: its type, its outputs, and the types of its sources.

    Contents and sizes of constants may differ by rank, as names, seeds and devices may.
    """
    count = 0 if node.op == "Const" else len(node.operation.outputs)
    outputs = [node.shape_of(number) for number in range(count)]
    sources = sorted(each.type for each in node.sources)
    text = repr((node.op, list(node.types()), outputs, sources))
    return zlib.crc32(text.encode())


def _kind(node: Node) -> str:
    return node.op if node.op.startswith("Hcom") else node.name.rpartition("/")[2]


def _trainable(graph: Any) -> Set[str]:
    variables = graph.get_collection("trainable_variables")
    return {one.name for variable in variables for one in operations_of(variable)}


def _value(node: LiveNode) -> Any:
    """A tensor with the value of a variable that is there already; None for none."""
    if node.op != "VarHandleOp":
        return node.operation.outputs[0]
    for user in node.operation.outputs[0].consumers():
        is_plain = not user.control_inputs and user._get_control_flow_context() is None
        if user.type == "ReadVariableOp" and is_plain:
            return user.outputs[0]
    return None


def _not_averaged(run: RunGraph, trained: Set[str]) -> Optional[Node]:
    """The first update of weights by gradients that no collective has touched."""
    barren: Set[str] = set()
    updates = [node for node in run.every() if operators.is_update(node)]
    applied = [node for node in updates if "Apply" in node.op] or [
        node
        for node in updates
        if node.op in _BY_HAND and node.inputs and node.inputs[0].source in trained
    ]
    return next((each for each in applied if not _is_averaged(run, each, barren)), None)


def _is_averaged(run: RunGraph, node: Node, barren: Set[str]) -> bool:
    nodes = run.body_of(node).nodes
    seen: Set[str] = set()
    pending = [node]
    while pending:
        each = pending.pop(0)
        if is_collective(each):
            return True
        edges = each.inputs[:1] if each.op in _SWITCHES else each.inputs
        for edge in edges:
            if edge.source not in seen and edge.source not in barren and edge.source in nodes:
                seen.add(edge.source)
                pending.append(nodes[edge.source])
    barren |= seen
    return False


Did = Mapping[str, Any]
Found = Tuple[Diagnostic, List[int]]


def differences(reports: Sequence[Optional[Mapping[str, Any]]]) -> Iterator[Found]:
    """Every difference that matters, with the ranks that it is of.

    Args:
        reports: the report of each rank, in order; None for one that came to write none.
    """
    found = {
        rank: (report["did"], report)
        for rank, report in enumerate(reports)
        if report is not None and report.get("did")
    }
    if len(found) < 2:
        return
    yield from _runs(found)
    yield from _values(found)
    yield from _alone(found)


def _runs(found: Mapping[int, Tuple[Did, Mapping[str, Any]]]) -> Iterator[Found]:
    """The first run in which a rank differs from the first one."""
    (first, (one, report)), *others = found.items()
    for rank, (other, its_report) in others:
        ended = [_is_well(report), _is_well(its_report)]
        difference = _first_difference(one, other, ended)
        if difference is None:
            continue
        mine, theirs = difference
        if mine is None or theirs is None:
            call, who = (mine, first) if theirs is None else (theirs, rank)
            rule = situations.graph_differs_by_rank
            text = (
                "rank {} waits in a session.run with a collective operation that rank {} "
                "does not run"
            )
        elif mine["summary"] != theirs["summary"]:
            call, who = (mine, first) if mine["summary"] else (theirs, rank)
            rule = situations.summary_run_on_one_rank
            text = (
                "the training run of rank {} includes summaries, the training run of rank "
                "{} does not"
            )
        else:
            yield _differing(first, rank, one, other, mine, theirs)
            return
        message = phrase(text, who, rank if who == first else first)
        yield _at(rule, message, call["line"]), [who]
        return


def _differing(first: int, rank: int, one: Did, other: Did, mine: Any, theirs: Any) -> Found:
    lines = {
        line
        for line in {**mine["prints"], **theirs["prints"]}
        if mine["prints"].get(line) != theirs["prints"].get(line)
    }
    made = [line for line in lines if one["made"].get(line) != other["made"].get(line)]
    only = [line for line in made if (line in one["made"]) != (line in other["made"])]
    if made:
        line = min(only or made, key=_key)
        text = (
            "this line creates different operators on rank {} and rank {}, for a session.run "
            "of all ranks"
        )
    elif mine["operations"] == theirs["operations"] and [*mine["prints"]] == [*theirs["prints"]]:
        line = next(each for each in mine["prints"] if each in lines)
        text = "this line creates operators with different shapes on rank {} and rank {}"
    else:
        line = mine["line"] if len(mine["prints"]) >= len(theirs["prints"]) else theirs["line"]
        text = "ranks {} and {} run different operators here: their fetches differ"
    message = phrase(text, first, rank)
    return _at(situations.graph_differs_by_rank, message, line), [first, rank]


def _is_well(report: Mapping[str, Any]) -> bool:
    return report.get("ended") == "finished" and not report.get("exit_code")


def _first_difference(one: Did, other: Did, ended: Sequence[bool]) -> Any:
    """The two runs that differ first; None for a rank that has ended; None for no difference."""
    left, right = _expanded(one), _expanded(other)
    while True:
        mine, theirs = next(left, None), next(right, None)
        if mine is None or theirs is None:
            rest = [each for each in (mine, theirs) if each is not None]
            # a rank that was ended from outside might have come to it
            may_come = not ended[0 if mine is None else 1]
            if not rest or may_come or not rest[0]["collective"]:
                return None
            return mine, theirs
        if _total(mine) != _total(theirs):
            return mine, theirs


def _total(call: Any) -> Any:
    return call["prints"], call["summary"]


def _expanded(did: Did) -> Iterator[Any]:
    calls = did["calls"]
    for number, times in did["order"]:
        for _ in range(times):
            yield calls[number]


def _values(found: Mapping[int, Tuple[Did, Mapping[str, Any]]]) -> Iterator[Found]:
    """Variables that start differently."""
    dids = [did for did, _ in found.values()]
    names = set.intersection(*(set(did["values"]) for did in dids))
    differing = sorted(n for n in names if len({did["values"][n][0] for did in dids}) > 1)
    first = dids[0]
    call = next((each for each in first["calls"] if each["trains"]), None)
    if call is None or not differing:
        return
    every = list(found)
    trained = [name for name in differing if first["values"][name][1]]
    if trained and call["collective"]:
        text = (
            "the ranks train together from different initial values ({}): the values broadcast "
            "before the first training run were not assigned to these variables"
            if first["after_broadcast"]
            else "the ranks train together from different initial values ({}): nothing was "
            "broadcast before the first training run"
        )
        message = phrase(text, listed(trained[:3]))
        line = first["wrapped"] or call["line"]
        yield _at(situations.variables_not_broadcast, message, line), every
    if not first["after_broadcast"]:
        return
    for name in differing:
        _, is_trained, line, is_integer = first["values"][name]
        if not is_trained and not is_integer:
            message = phrase(
                'the variable "{}", which is not trained, starts with different values on each '
                "rank",
                name,
            )
            yield _at(situations.untrained_variables_differ_by_rank, message, line), every


def _alone(found: Mapping[int, Tuple[Did, Mapping[str, Any]]]) -> Iterator[Found]:
    """Training runs whose gradients are averaged on no rank."""
    lines: List[Dict[str, Any]] = []
    for did, _ in found.values():
        ran = {number for number, _ in did["order"]}
        alone = (did["calls"][each]["alone"] for each in sorted(ran))
        lines.append({line: None for line in alone if line})
    for line in lines[0]:
        if all(line in each for each in lines):
            message = phrase(
                "the ranks update the weights here with gradients that are never averaged: "
                "each rank trains by itself"
            )
            yield _at(situations.ranks_train_independently, message, line), list(found)


def _key(line: str) -> Tuple[str, int]:
    path, _, number = line.rpartition(":")
    return path, int(number) if number.isdecimal() else 0


def _at(rule: Any, message: str, line: str) -> Diagnostic:
    path, number = _key(line)
    place = Place(path, number) if number else Place()
    diagnostic: Diagnostic = rule.diagnostic(message, place)
    return diagnostic
