"""The graph that the graph engine wrote: operators in the order of execution.

Read are ``ge_proto_*_Build.txt`` (protobuf text) and its form in JSON.  Only what a comparison
needs is kept: names, types, edges, fusion, and which operator of the network each output
stands for.

Source: facts dump.yaml, ``graph`` and ``compare`` (C-OUTPUT, C-INPUT).
"""

import json
import os
import re
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import attr

from npu_config.core.diagnostics import NpuConfigError, Place
from npu_config.core.message import phrase
from npu_config.core.paths import PathLike, path_name, reading
from npu_config.dumps._rules import not_a_graph_of_the_engine
from npu_config.dumps.tree import plain
from npu_config.text.prototext import TextBlock, parse
from npu_config.text.source import FaultLog, Source, loaded

LARGEST = 1 << 28
"""How many bytes a graph may have; the usual limit of protobuf text is for configurations."""

CONSTANTS = frozenset(("Const", "Constant", "ConstPlaceHolder"))
PASSED_THROUGH = frozenset(("Cast", "TransData"))
_FILE = re.compile(r"ge_proto_([0-9]+)_(?:.*_)?Build\.(txt|json)\Z")
_NAME = re.compile(rb'\bname"?: *"([^"\n]*)"')
_BEGINNING = 4096
_MOST_STEPS = 1000


@attr.s(frozen=True, slots=True, auto_attribs=True)
class GeOutput:
    """One output of an operator.

    Args:
        format: on the device.
        origin_format: the layout in the network, if the graph says.
        origin_name: the operator of the network that it stands for, if the graph says.
        origin_index: which of that operator's outputs, if the graph says.
    """

    format: str
    origin_format: Optional[str]
    origin_name: Optional[str]
    origin_index: Optional[int]


@attr.s(frozen=True, slots=True, auto_attribs=True)
class GeOp:
    """One operator of the compiled graph.

    Args:
        name: its name.
        type: the operator type.
        id: its place in the order of execution.
        stream: the stream it runs on.
        inputs: (producer, output) of every input that carries data; None where none is named.
        outputs: what the graph says of each output.
        original_names: the operators of the network that it stands for; empty for those that
            the compiler inserted, None when the graph does not say.
        passes: the fusion passes that made it.
        is_inner: True for the inner operators of several that stand for one.
        has_task: False for those that never run on the device, and so are never dumped.
    """

    name: str
    type: str
    id: int
    stream: int
    inputs: Tuple[Optional[Tuple[str, int]], ...]
    outputs: Tuple[GeOutput, ...]
    original_names: Optional[Tuple[str, ...]]
    passes: Tuple[str, ...] = ()
    is_inner: bool = False
    has_task: bool = True


class GeGraph(Tuple[GeOp, ...]):
    """The operators of a graph, in the order of execution.

    Attributes:
        name: of the graph.
        path: the file.
    """

    name: str
    path: Optional[str]
    _by_name: Dict[str, GeOp]

    def __new__(cls, name: str, ops: Iterable[GeOp], path: Optional[str] = None) -> "GeGraph":
        """Keep the operators, which may be in any order."""
        self = super().__new__(cls, sorted(ops, key=lambda op: op.id))
        self.name, self.path = name, path
        self._by_name = {op.name: op for op in reversed(self)}
        return self

    def __repr__(self) -> str:
        return phrase("<GeGraph {}: {:,} operators>", self.name, len(self))

    def find(self, name: str) -> Optional[GeOp]:
        """The operator of a name, or None."""
        return self._by_name.get(name)

    def origin(self, name: str, output: int) -> Optional[Tuple[str, int]]:
        """Which output of the network an output stands for.

        Operators that only convert (``Cast``, ``TransData``) stand for what they convert.

        Args:
            name: the operator of the compiled graph.
            output: which of its outputs.

        Returns:
            The operator of the network and its output; None when the graph does not say.
        """
        for _ in range(_MOST_STEPS):
            op = self.find(name)
            if op is None:
                return None
            if op.outputs:
                said = op.outputs[output if output < len(op.outputs) else 0]
                if said.origin_name is not None:
                    index = output if said.origin_index is None else said.origin_index
                    return said.origin_name, index
            if op.type in PASSED_THROUGH and op.inputs and op.inputs[0] is not None:
                name, output = op.inputs[0]
                continue
            if op.original_names is None:
                return op.name, output
            if len(op.original_names) == 1:
                return op.original_names[0], output
            return None
        return None


def read_ge_graph(path: PathLike, model: Optional[str] = None) -> GeGraph:
    """Read a graph that the graph engine wrote.

    Args:
        path: ``ge_proto_*_Build.txt``, the same as JSON, or a folder with such files, of which
            the last of the stage ``Build`` is taken.
        model: the name of the graph to prefer in a folder, as folders of dumps have it.

    Raises:
        NpuConfigError: the file cannot be read or is not such a graph.
    """
    name = graph_file(path, model)
    data = loaded(name, LARGEST)
    log = FaultLog(
        Source(data.decode("utf-8", "surrogateescape"), name), not_a_graph_of_the_engine
    )
    is_json = data.lstrip()[:1] == b"{"
    graphs = _from_json(data, name) if is_json else _all(_of_block(parse(log)), "graph")
    ops = [_op(op, number) for graph in graphs for number, op in enumerate(_all(graph, "op"))]
    if not ops:
        raise _refused(name, "the file is not a graph: it contains no graph with an operator")
    if log.diagnostics:
        raise NpuConfigError(log.diagnostics)
    return GeGraph(_text(graphs[0], "name"), ops, name)


def given_graph(graph: Union[PathLike, GeGraph, None]) -> Optional[GeGraph]:
    """A graph as users give it: none, a path as of :func:`read_ge_graph`, or the graph itself."""
    return graph if graph is None or isinstance(graph, GeGraph) else read_ge_graph(graph)


def graph_file(path: PathLike, model: Optional[str] = None) -> str:
    """The file of a graph: the path itself, or in a folder the one that is meant.

    Args:
        path: the file or the folder.
        model: as :func:`read_ge_graph` has it.

    Raises:
        NpuConfigError: the folder cannot be read or holds no graph.
    """
    name = path_name(path)
    return _in_folder(name, model) if os.path.isdir(name) else name


def _in_folder(folder: str, model: Optional[str]) -> str:
    """The graph of the last ``Build`` in a folder, of the model if one has its name."""
    found = []
    try:
        for name in os.listdir(folder):
            match = _FILE.match(name)
            if match:
                found.append((int(match.group(1)), match.group(2) == "txt", name))
    except OSError as error:
        raise _refused(folder, phrase("the folder cannot be read: {}", error.strerror)) from None
    if not found:
        raise _refused(folder, "the folder has no file ge_proto_*_Build.txt")
    paths = [os.path.join(folder, name) for _, _, name in sorted(found, reverse=True)]
    return next((path for path in paths if model and _is_named(path, model)), paths[0])


def _is_named(path: str, model: str) -> bool:
    """True when a graph begins with the name of the model."""
    try:
        with open(path, "rb", opener=reading) as stream:
            match = _NAME.search(stream.read(_BEGINNING))
    except OSError:
        return False
    return match is not None and plain(match.group(1).decode("utf-8", "replace")) == model


def _refused(path: str, reason: str) -> NpuConfigError:
    return not_a_graph_of_the_engine.error(
        reason,
        Place(path),
        help="set DUMP_GE_GRAPH=2: the graph engine then writes ge_proto_*_Build.txt",
    )


_Node = Mapping[str, List[Any]]


def _of_block(block: TextBlock) -> _Node:
    """A message as a table of lists; messages inside stay as they are until they are read."""
    node: Dict[str, List[Any]] = {}
    for field in block.fields:
        node.setdefault(field.name, []).extend(
            value if isinstance(value, TextBlock) else value.value for value in field.values
        )
    return node


def _from_json(data: bytes, path: str) -> List[_Node]:
    try:
        document = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _refused(path, phrase("the file is not JSON: {}", error)) from None
    return _all(_node(document), "graph")


def _node(value: Any) -> _Node:
    if isinstance(value, TextBlock):
        return _of_block(value)
    if not isinstance(value, dict):
        return {}
    return {key: item if isinstance(item, list) else [item] for key, item in value.items()}


def _all(node: _Node, name: str) -> List[_Node]:
    return [_node(value) for value in node.get(name, ())]


def _texts(node: _Node, name: str) -> List[str]:
    return [
        value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
        for value in node.get(name, ())
    ]


def _text(node: _Node, name: str) -> str:
    return next(iter(_texts(node, name)), "")


def _int(node: _Node, name: str, default: int = 0) -> int:
    try:
        return int(_text(node, name))
    except ValueError:
        return default


def _attributes(node: _Node) -> Dict[str, _Node]:
    return {
        _text(entry, "key"): next(iter(_all(entry, "value")), {}) for entry in _all(node, "attr")
    }


def _list(attributes: Mapping[str, _Node], name: str) -> Optional[Tuple[str, ...]]:
    if name not in attributes:
        return None
    return tuple(
        text for part in _all(attributes[name], "list") for text in _texts(part, "s") if text
    )


def _true(attributes: Mapping[str, _Node], name: str) -> bool:
    return _text(attributes.get(name, {}), "b").lower() == "true"


def _op(node: _Node, number: int) -> GeOp:
    attributes = _attributes(node)
    return GeOp(
        _text(node, "name"),
        _text(node, "type"),
        _int(node, "id", number),
        _int(node, "stream_id"),
        tuple(_edges(_texts(node, "input"))),
        tuple(_output(each) for each in _all(node, "output_desc")),
        _list(attributes, "_datadump_original_op_names"),
        _list(attributes, "pass_name") or (),
        _true(attributes, "_datadump_is_multiop"),
        not _true(attributes, "_no_task"),
    )


def _edges(inputs: Sequence[str]) -> Iterator[Optional[Tuple[str, int]]]:
    """The data edges; a control edge has the index -1."""
    for text in inputs:
        name, colon, index = text.rpartition(":")
        if not text:
            continue
        if colon and index.isdecimal() and len(index) < 11:
            yield name, int(index)
        elif index != "-1":
            yield None


def _output(node: _Node) -> GeOutput:
    attributes = _attributes(node)

    def said(name: str) -> Optional[str]:
        return _text(attributes.get(name, {}), "s") or None

    index = _text(attributes.get("_datadump_origin_output_index", {}), "i")
    return GeOutput(
        _text(node, "layout"),
        said("_datadump_origin_format") or said("origin_format"),
        said("_datadump_origin_name"),
        int(index) if index.isdecimal() else None,
    )
