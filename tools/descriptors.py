"""npu_config/proto/*.binpb: the .proto files beside them as serialised descriptors.

What protoc does, for the part of its language that the files use; so that neither the developers
nor the users need it.
"""

import re
from typing import Any, Dict, Iterator, List, Optional

from google.protobuf import descriptor_pb2

FILES = ("npu_config/proto/session.proto", "npu_config/proto/graph.proto")
"""In the order in which they build upon each other."""

_TOKEN = re.compile(r'"[^"]*"|[\w.]+|-\d+|[^\s\w]')
_COMMENT = re.compile(r"//.*")
_TYPES = {
    name[len("TYPE_") :].lower(): number
    for name, number in descriptor_pb2.FieldDescriptorProto.Type.items()
}
_OPTIONAL = descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL
_REPEATED = descriptor_pb2.FieldDescriptorProto.LABEL_REPEATED


def render(path: str) -> bytes:
    """The serialised FileDescriptorProto of one of the files."""
    kinds: Dict[str, int] = {}
    for name in FILES:
        with open(name, encoding="utf-8") as stream:
            proto = Declarations(name, stream.read(), kinds).proto
        if name == path:
            return bytes(proto.SerializeToString(deterministic=True))
    raise ValueError(path)


class Declarations:
    """Reads the text of a .proto file into a FileDescriptorProto.

    The language is the part of proto3 that TensorFlow's files use: messages, enums,
    fields, oneofs, maps, ``reserved``, and boolean field options.

    Args:
        name: the file.
        text: its content.
        kinds: the types that are known so far; those of the file are added.
    """

    def __init__(self, name: str, text: str, kinds: Dict[str, int]) -> None:
        self.proto = descriptor_pb2.FileDescriptorProto(name=name)
        self._kinds = kinds
        self._tokens: Iterator[str] = iter(_TOKEN.findall(_COMMENT.sub("", text)))
        self._fields: List[Any] = []
        for keyword in self._tokens:
            if keyword in ("message", "enum"):
                into = self.proto.message_type if keyword == "message" else self.proto.enum_type
                self._definition(keyword, into, self.proto.package)
            else:
                self._header(keyword)
        for field, scope in self._fields:
            self._resolve(field, scope)

    def _header(self, keyword: str) -> None:
        if keyword == "syntax":
            self._expect("=")
        value = next(self._tokens).strip('"')
        if keyword == "import":
            self.proto.dependency.append(value)
        elif keyword in ("syntax", "package"):
            setattr(self.proto, keyword, value)
        else:
            raise ValueError("unknown keyword {}".format(keyword))
        self._expect(";")

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
            raise ValueError("unknown type {}".format(name))
        field.type_name = "." + path
        field.type = self._kinds[path]

    def _expect(self, token: str) -> None:
        found = next(self._tokens)
        if found != token:
            raise ValueError("expected {}, found {}".format(token, found))
