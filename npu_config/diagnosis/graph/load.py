"""Graphs from files, messages, live graphs and sessions.

Which kind of file it is, its content says, not its name: a text or binary GraphDef, a
MetaGraphDef (the ``.meta`` of a checkpoint) or a SavedModel.
"""

import os
import re
import stat
from collections import Counter
from typing import Any, List, NamedTuple, Optional, Tuple

from npu_config.core.diagnostics import NpuConfigError, Place, Severity, declare
from npu_config.core.message import phrase
from npu_config.core.paths import is_text, reading
from npu_config.diagnosis.graph.model import Graph
from npu_config.proto.wire import BYTES, WireError, fields
from npu_config.text.source import guarded, unreadable

# A monitored session is wrapped four deep, and tfdbg adds one.
_WRAPPERS = 10
#: What a protobuf message can hold.
MAX_BYTES = (1 << 31) - 1
#: What is read of a pipe or a device, whose size cannot be asked for.
MAX_STREAM = 1 << 28
_TOO_LARGE_HELP = (
    "feed large data instead of putting it into the graph as constants: "
    "tf.data.Dataset.from_generator, from_tensor_slices of a placeholder, or files"
)
_TEXT_START = re.compile(rb"\s*(?:#[^\n]*\n\s*)*(\w+)\s*[:{<]")
_OF_ENGINE = re.compile(rb"\s*(?:(?:name|version)\s*:[^\n]*\n\s*)*(?:graph\s*\{|\{\s*\"graph\")")
"""How a ModelDef begins, as text and as JSON."""
_BRACKETS = re.compile(r"#[^\n]*|\"(?:\\.?|[^\"\\\n])*\"?|'(?:\\.?|[^'\\\n])*'?|[{}<>]")
_META_FIELDS = ("meta_info_def", "graph_def", "saver_def", "collection_def", "signature_def",
                "asset_file_def", "object_graph_def")  # fmt: skip


@declare("NPU795", Severity.ERROR)
def graph_unreadable() -> None:
    """A file contains no readable graph.

    A graph is read from a GraphDef (text or binary), a MetaGraphDef (a checkpoint's `.meta`
    file) or a SavedModel. A truncated file is rejected completely, because the missing part
    may be important. A graph is also rejected if a node reads a node that is missing, or if
    two nodes have the same name: TensorFlow cannot import such a graph.

    Wrong: `model.ckpt-100.data-00000-of-00001`, or a `graph.pbtxt` that was written to a full
    disk.

    Right: `model.ckpt-100.meta`, or `tf.io.write_graph(graph, folder, "graph.pbtxt")`.
    """


@declare("NPU796", Severity.ERROR)
def graph_too_large() -> None:
    """A graph is larger than 2 GB, the limit of a protobuf message.

    TensorFlow can neither write nor read such a graph, and the adapter also receives the graph
    as such a message. In nearly all cases, data that is stored in the graph as constants makes
    it so large.

    Wrong: `tf.data.Dataset.from_tensor_slices(huge_array)`

    Right: `tf.data.Dataset.from_generator(...)`, or `from_tensor_slices(placeholder)` with an
    initializable iterator.
    """


class LoadedGraph(NamedTuple):
    """A graph, with the file it came from and, for text, the file's content."""

    graph: Graph
    path: Optional[str] = None
    text: Optional[str] = None

    def place(self, node: Optional[str]) -> Place:
        """Where a node stands in the text; the file as a whole otherwise."""
        if self.text is not None and node is not None:
            at = self.text.find(phrase('name: "{}"', node))
            if at >= 0:
                return Place(self.path, self.text.count("\n", 0, at) + 1)
        return Place(self.path)


def load(source: Any) -> LoadedGraph:
    """The graph of a path, GraphDef, MetaGraphDef, tf.Graph or session.

    Raises:
        NpuConfigError: the file cannot be read, is damaged, or holds no graph; the graph is
            larger than 2 GB.
        TypeError: the source is of another type.
    """
    if isinstance(source, (str, bytes, os.PathLike)):
        return _load_file(os.fsdecode(source))
    if hasattr(source, "graph_def") and hasattr(source, "DESCRIPTOR"):
        return LoadedGraph(Graph.of(source.graph_def))
    if hasattr(source, "node") and hasattr(source, "library"):
        return LoadedGraph(Graph.of(source))
    graph = source if hasattr(source, "as_graph_def") else getattr(source, "graph", None)
    if not hasattr(graph, "as_graph_def"):
        raise TypeError(
            phrase(
                "a graph is read from a path, a GraphDef, a MetaGraphDef, a tf.Graph or a "
                "session, not from {}",
                type(source).__name__,
            )
        )
    return LoadedGraph(Graph.of(_exported(graph)))


def session_config(source: Any) -> Any:
    """The ConfigProto that a session was created with; None for anything else."""
    holder, depth = source, 0
    while holder is not None and depth < _WRAPPERS:
        config = getattr(holder, "_config", None)
        if hasattr(config, "graph_options"):
            return config
        holder, depth = getattr(holder, "_sess", None), depth + 1
    return None


def _exported(graph: Any) -> Any:
    try:
        return graph.as_graph_def(add_shapes=True)
    except ValueError as error:
        if "2GB" not in str(error).replace(" ", ""):
            raise
        raise graph_too_large.error(
            "the graph is larger than 2 GB", help=_TOO_LARGE_HELP
        ) from None


def _load_file(given: str) -> LoadedGraph:
    try:
        path = _graph_file(given)
        with open(path, "rb", opener=reading) as stream:
            status = os.fstat(stream.fileno())
            regular = stat.S_ISREG(status.st_mode)
            limit = MAX_BYTES if regular else MAX_STREAM
            size = status.st_size
            data = b"" if size > limit else stream.read(limit + 1)
    except NpuConfigError:
        raise
    except (OSError, ValueError) as error:
        if is_text(given):
            found = unreadable(given, error)
            raise graph_unreadable.error(found.message, help=found.help) from None
        reason = getattr(error, "strerror", None) or error
        raise _unreadable(given, phrase('cannot read "{}": {}', given, reason)) from None
    if max(size, len(data)) > limit:
        message = phrase(
            "the file has {:,} bytes; a graph can have at most 2 GB", max(size, len(data))
        )
        raise graph_too_large.error(message, Place(path), help=_TOO_LARGE_HELP)
    with guarded(path):
        return _loaded(path, data)


def _loaded(path: str, data: bytes) -> LoadedGraph:
    if not data.strip():
        raise _unreadable(path, "the file is empty")
    if _OF_ENGINE.match(data[:65536]):
        text = (
            "this graph was written by the graph engine (ge_proto_*), it is not a TensorFlow graph"
        )
        help_ = phrase(
            "pass this graph to: npu-config dump compare NPU REFERENCE --graph {}", path
        )
        raise graph_unreadable.error(text, Place(path), help=help_)
    start = _TEXT_START.match(data[:65536])
    if start and b"\x00" not in data[:65536]:
        return _load_text(path, data, start.group(1).decode())
    return LoadedGraph(_whole(path, _binary(path, data)), path)


def _whole(path: str, graph_def: Any) -> Graph:
    """The graph of a file; one that lacks what its nodes read, or names two alike, is refused."""
    graph = Graph.of(graph_def)
    if len(graph.main.nodes) < len(graph_def.node):
        name = Counter(node.name for node in graph_def.node).most_common(1)[0][0]
        raise _unreadable(path, phrase('two nodes have the name "{}"', name), help=_ANEW)
    names = graph.main.nodes.keys()
    for node in graph.main:
        for source in (*(edge.source for edge in node.inputs), *node.controls):
            if source not in names:
                text = 'the node "{}" reads "{}", which is not in the graph'
                raise _unreadable(path, phrase(text, node.name, source), help=_ANEW)
    return graph


_ANEW = 'write the graph again: tf.io.write_graph(graph, folder, "graph.pbtxt")'


def _graph_file(given: str) -> str:
    """The file that a path means: a checkpoint prefix and a directory stand for one."""
    if os.path.isdir(given):
        names = sorted(os.listdir(given))
        metas = [name for name in names if name.endswith(".meta")]
        metas.sort(key=lambda name: os.path.getmtime(os.path.join(given, name)))
        for name in ("saved_model.pb", "saved_model.pbtxt", *metas[-1:], "graph.pbtxt"):
            if name in names:
                return os.path.join(given, name)
        raise _unreadable(given, "no saved_model.pb, *.meta or graph.pbtxt in this directory")
    if not os.path.exists(given) and os.path.exists(given + ".meta"):
        return given + ".meta"
    return given


def _unreadable(
    path: str, message: str, line: Optional[int] = None, help: Optional[str] = None
) -> NpuConfigError:
    return graph_unreadable.error(message, Place(path, line), help=help)


def _no_graph(path: str) -> NpuConfigError:
    beside = re.sub(r"\.(index|data-\d+-of-\d+)\Z", ".meta", path)
    return _unreadable(
        path,
        "the file does not hold a graph: not a GraphDef, a MetaGraphDef or a SavedModel",
        help=phrase('pass "{}"', beside)
        if beside != path
        else "pass a graph.pbtxt, a frozen .pb, a checkpoint's .meta, or a saved_model.pb",
    )


# text


def _load_text(path: str, data: bytes, first: str) -> LoadedGraph:
    from google.protobuf import text_format

    from npu_config.proto.schema import graph_message

    text = data.decode("utf-8", "replace")
    message = graph_message("MetaGraphDef" if first in _META_FIELDS else "GraphDef")()
    body = text
    if first in ("saved_model_schema_version", "meta_graphs"):
        message = graph_message("MetaGraphDef")()
        body = _first_meta_graph(text)
    try:
        text_format.Parse(body, message, allow_unknown_field=True)
    except (text_format.ParseError, RecursionError, ValueError) as error:
        raise _text_fault(path, text, error) from None
    graph_def = message.graph_def if hasattr(message, "graph_def") else message
    if not _plausible(graph_def):
        raise _no_graph(path)
    return LoadedGraph(_whole(path, graph_def), path, text)


def _first_meta_graph(text: str) -> str:
    """The content of the first ``meta_graphs { }`` of a SavedModel's text."""
    start = re.search(r"^meta_graphs:?\s*\{", text, re.MULTILINE)
    if start is None:
        return ""
    end = re.compile(r"^\}", re.MULTILINE).search(text, start.end())
    return text[start.end() : end.start() if end else len(text)]


_FIELD = re.compile(r"\b(?:node|versions|library|graph_def|meta_graphs|meta_info_def)\b")
"""A name that the text of a graph has."""


def _text_fault(path: str, text: str, error: Exception) -> NpuConfigError:
    if isinstance(error, RecursionError):
        return _unreadable(path, "the text is nested too deeply for a graph")
    if _open_brackets(text):
        return _unreadable(
            path,
            "the graph is truncated: the text ends in the middle of a node",
            text.count("\n") + 1,
            "write or copy the graph again",
        )
    if not _FIELD.search(text):
        return _no_graph(path)
    match = re.match(r"(?:(\d+):\d+ ?: ?)?(.*)", str(error), re.DOTALL)
    assert match is not None
    reason = match.group(2).strip() or "not a protobuf message in text form"
    return _unreadable(
        path,
        phrase("the text is not a graph: {}", reason.splitlines()[0]),
        int(match.group(1)) if match.group(1) else None,
    )


def _open_brackets(text: str) -> int:
    """How many brackets are still open at the end of the text."""
    depth = 0
    for match in _BRACKETS.finditer(text):
        depth += {"{": 1, "<": 1, "}": -1, ">": -1}.get(match.group(), 0)
    return depth


# binary


def _binary(path: str, data: bytes) -> Any:
    for name in ("GraphDef", "MetaGraphDef"):
        message = _parsed(name, data)
        graph_def = message.graph_def if name == "MetaGraphDef" and message else message
        if graph_def is not None and _plausible(graph_def):
            return graph_def
    parts, cut = _parts(data)
    if cut:
        whole = _whole_nodes(parts)
        if whole:
            raise _unreadable(
                path,
                phrase(
                    "the graph is truncated: the file ends at byte {:,} in the middle of a "
                    'field of {:,} bytes; the last complete node is "{}"',
                    len(data),
                    cut,
                    whole[-1],
                ),
                help="write or copy the graph again",
            )
    elif {number for number, _ in parts} == {2}:
        # A SavedModel: its version is a number, its meta graphs are field 2.
        message = _parsed("MetaGraphDef", parts[0][1])
        if message is not None and _plausible(message.graph_def):
            return message.graph_def
    raise _no_graph(path)


def _parsed(name: str, data: bytes) -> Any:
    """The bytes as a message of that name; None when they are none."""
    from npu_config.proto import parse_bytes
    from npu_config.proto.faults import ProtoSyntaxError
    from npu_config.proto.schema import graph_message

    try:
        return parse_bytes(data, graph_message(name))
    except ProtoSyntaxError:
        return None


def _plausible(graph_def: Any) -> bool:
    """True for a message that really is a graph (any bytes may parse as some message)."""
    return len(graph_def.node) > 0 and all(node.name and node.op for node in graph_def.node)


def _parts(data: bytes) -> Tuple[List[Tuple[int, bytes]], int]:
    """The parts of the outermost message, and the length of the one that is cut off, or 0."""
    parts: List[Tuple[int, bytes]] = []
    try:
        for number, kind, value in fields(data):
            if kind == BYTES:
                parts.append((number, bytes(value)))
    except WireError as error:
        return parts, error.cut
    return parts, 0


def _whole_nodes(parts: List[Tuple[int, bytes]]) -> List[str]:
    """The names of the nodes among the fields of a damaged GraphDef."""
    nodes = [_parsed("NodeDef", part) for number, part in parts if number == 1]
    return [node.name for node in nodes if node is not None and node.name and node.op]
