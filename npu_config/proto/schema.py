"""From the declarations to message classes, in a pool of their own.

The pool is private: nothing is registered beside TensorFlow's own messages, so both can
live in one process.  One code path serves every protobuf from 3.11 on, whichever
implementation (Python, C++, upb) is behind it.
"""

import functools
import re
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from npu_config.core.message import phrase
from npu_config.proto import graph_messages, session_messages

_TOKEN = re.compile(r'"[^"]*"|[\w.]+|-\d+|[^\s\w]')
_COMMENT = re.compile(r"//.*")
_TYPES = {
    name[len("TYPE_") :].lower(): number
    for name, number in descriptor_pb2.FieldDescriptorProto.Type.items()
}
_OPTIONAL = descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL
_REPEATED = descriptor_pb2.FieldDescriptorProto.LABEL_REPEATED


class _File(NamedTuple):
    """A declaration: its file name in the pool, package, text and what it builds upon."""

    name: str
    package: str
    text: str
    dependencies: List[str]


_SESSION = _File("npu_config/session.proto", "tensorflow", session_messages.SESSION, [])
_GRAPH = _File("npu_config/graph.proto", "tensorflow", graph_messages.GRAPH, [_SESSION.name])


class _Declarations:
    """Reads a declaration text into a FileDescriptorProto.

    The language is the part of proto3 that TensorFlow's files use: messages, enums,
    fields, oneofs, maps, ``reserved``, and boolean field options.
    """

    def __init__(self, file: _File, kinds: Dict[str, int]) -> None:
        self.proto = descriptor_pb2.FileDescriptorProto(
            name=file.name, package=file.package, dependency=file.dependencies, syntax="proto3"
        )
        self._kinds = kinds
        self._tokens: Iterator[str] = iter(_TOKEN.findall(_COMMENT.sub("", file.text)))
        self._fields: List[Any] = []
        for keyword in self._tokens:
            into = self.proto.message_type if keyword == "message" else self.proto.enum_type
            self._definition(keyword, into, file.package)
        for field, scope in self._fields:
            self._resolve(field, scope)

    def _definition(self, keyword: str, into: Any, scope: str) -> None:
        name = next(self._tokens)
        path = "{}.{}".format(scope, name)
        self._kinds[path] = _TYPES[keyword]
        self._expect("{")
        if keyword == "enum":
            self._enum(into.add(name=name))
        else:
            self._message(into.add(name=name), path)

    def _enum(self, enum: Any) -> None:
        for name in self._tokens:
            if name == "}":
                return
            self._expect("=")
            enum.value.add(name=name, number=int(next(self._tokens)))
            self._expect(";")

    def _message(self, message: Any, path: str) -> None:
        oneof: Optional[int] = None
        for token in self._tokens:
            if token == "}":
                if oneof is None:
                    return
                oneof = None
            elif token == "message":
                self._definition(token, message.nested_type, path)
            elif token == "enum":
                self._definition(token, message.enum_type, path)
            elif token == "oneof":
                oneof = len(message.oneof_decl)
                message.oneof_decl.add(name=next(self._tokens))
                self._expect("{")
            elif token == "reserved":
                self._reserved(message)
            elif token == "map":
                self._map(message, path)
            elif token == "repeated":
                self._field(message, next(self._tokens), path, _REPEATED)
            else:
                field = self._field(message, token, path, _OPTIONAL)
                if oneof is not None:
                    field.oneof_index = oneof

    def _reserved(self, message: Any) -> None:
        what = next(self._tokens)
        if what.startswith('"'):
            message.reserved_name.append(what.strip('"'))
        else:
            message.reserved_range.add(start=int(what), end=int(what) + 1)
        self._expect(";")

    def _field(self, message: Any, kind: str, path: str, label: int) -> Any:
        field = message.field.add(name=next(self._tokens), type_name=kind, label=label)
        self._expect("=")
        field.number = int(next(self._tokens))
        for token in self._tokens:
            if token == ";":
                break
            if token in ("packed", "deprecated"):
                setattr(field.options, token, True)
        self._fields.append((field, path))
        return field

    def _map(self, message: Any, path: str) -> None:
        self._expect("<")
        key = next(self._tokens)
        self._expect(",")
        value = next(self._tokens)
        self._expect(">")
        field = self._field(message, "", path, _REPEATED)
        entry_name = field.name.title().replace("_", "") + "Entry"
        field.type_name = entry_name
        entry = message.nested_type.add(name=entry_name)
        entry.options.map_entry = True
        entry_path = "{}.{}".format(path, entry_name)
        self._kinds[entry_path] = _TYPES["message"]
        for number, (name, kind) in enumerate((("key", key), ("value", value)), 1):
            part = entry.field.add(name=name, number=number, type_name=kind, label=_OPTIONAL)
            self._fields.append((part, path))

    def _resolve(self, field: Any, scope: str) -> None:
        name = field.type_name
        if name in _TYPES:
            field.ClearField("type_name")
            field.type = _TYPES[name]
            return
        scopes = scope.split(".")
        paths = (".".join([*scopes[:depth], name]) for depth in range(len(scopes), -1, -1))
        path = next((path for path in paths if path in self._kinds), None)
        if path is None:
            raise ValueError(phrase("unknown type {}", name))
        field.type_name = "." + path
        field.type = self._kinds[path]

    def _expect(self, token: str) -> None:
        found = next(self._tokens)
        if found != token:
            raise ValueError(phrase("expected {}, found {}", token, found))


class _Pool:
    """The private pool, and the kinds of the types in it."""

    def __init__(self) -> None:
        self._pool = descriptor_pool.DescriptorPool()
        self._kinds: Dict[str, int] = {}
        # protobuf 4.22 to 4.24 crashes when the class of a field was collected as garbage.
        self._classes: Dict[str, Any] = {}
        # From protobuf 4.22 on a function makes the class; before, a factory that must
        # be one and the same for all messages of the pool.
        factory: Any = message_factory
        self._get_class = getattr(factory, "GetMessageClass", None) or (
            factory.MessageFactory(self._pool).GetPrototype
        )
        self.add(_SESSION)

    def add(self, file: _File) -> None:
        proto = _Declarations(file, self._kinds).proto
        self._pool.AddSerializedFile(proto.SerializeToString())

    def message(self, name: str) -> Any:
        pending = [self._pool.FindMessageTypeByName(name)]
        while pending:
            descriptor = pending.pop()
            if descriptor.full_name not in self._classes:
                self._classes[descriptor.full_name] = self._get_class(descriptor)
                pending.extend(f.message_type for f in descriptor.fields if f.message_type)
        return self._classes[name]


@functools.lru_cache(maxsize=None)
def _session_pool() -> _Pool:
    return _Pool()


@functools.lru_cache(maxsize=None)
def _graph_pool() -> _Pool:
    pool = _session_pool()
    pool.add(_GRAPH)
    return pool


@functools.lru_cache(maxsize=None)
def session_message(name: str) -> Any:
    """The class of a message of :mod:`~npu_config.proto.session_messages`.

    Args:
        name: its name without the package, e.g. ``"ConfigProto"``.

    Raises:
        KeyError: when there is none of that name.
    """
    return _session_pool().message("tensorflow." + name)


@functools.lru_cache(maxsize=None)
def graph_message(name: str) -> Any:
    """The class of a message of :mod:`~npu_config.proto.graph_messages`.

    Args:
        name: its name without the package, e.g. ``"GraphDef"``.

    Raises:
        KeyError: when there is none of that name.
    """
    return _graph_pool().message("tensorflow." + name)
