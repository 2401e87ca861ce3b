"""A message from and to its text form, the same on every protobuf, and from bytes.

Every fault of a text is reported, not only the first.  What is accepted follows the text format
specification; where a field that can have one value is given two, TensorFlow's own parser
refuses, and so does this.  What is written is the text that protobuf for Python prints beside
TensorFlow 1.15: map entries in order of their keys, what is not ASCII in octal escapes, the
shortest number that is read back as the same float.  (protobuf 3.11's own printer loses digits
of floats, and later ones print other escapes.)  Unknown fields have no text form.
"""

import warnings
from contextlib import suppress
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError

from npu_config.core.message import join, phrase
from npu_config.proto.faults import Fault, ProtoSyntaxError, log_of, refuse
from npu_config.proto.schema import is_map, is_repeated, single
from npu_config.text import prototext
from npu_config.text.plain_text import octal_escapes
from npu_config.text.prototext import Scalar, TextBlock, TextField
from npu_config.text.source import FaultLog, StopReading
from npu_config.text.words import near, shown

_RANGES = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
# An enum with more names than this is described, not listed.
_MAX_NAMES = 12


def read_text(text: Union[str, bytes], message: Any, limit: Optional[int] = None) -> Any:
    """Fill an empty message from its text form, and return it.

    Args:
        text: the text.
        message: any protobuf message.
        limit: how many characters it may have; None: 4 Mi.

    Raises:
        ProtoSyntaxError: with every fault; where brackets do not match, with those of the
            syntax only.
    """
    log = log_of(text, limit)
    block = prototext.parse(log)
    if log.complete:
        with suppress(StopReading):
            _Filler(log).fill(message, block)
    refuse(log)
    return message


class _MisfitError(Exception):
    """A value does not fit its field."""


class _Filler:
    def __init__(self, log: FaultLog) -> None:
        self._log = log

    def fill(self, message: Any, block: TextBlock) -> None:
        for field, descriptor in self._known(message.DESCRIPTOR, block):
            name, kind = field.name, descriptor.message_type
            if kind is None and is_repeated(descriptor):
                getattr(message, name).extend(self._scalars(descriptor, field))
            elif kind is None:
                setattr(message, name, self._one(descriptor, field))
            elif is_map(descriptor):
                for child in self._blocks(field):
                    self._entry(getattr(message, name), kind, child)
            elif is_repeated(descriptor):
                for child in self._blocks(field):
                    self.fill(getattr(message, name).add(), child)
            else:
                for child in self._blocks(field):
                    getattr(message, name).SetInParent()
                    self.fill(getattr(message, name), child)

    def _entry(self, into: Any, entry: Any, block: TextBlock) -> None:
        key_type, value_type = entry.fields_by_name["key"], entry.fields_by_name["value"]
        fields = {descriptor.name: field for field, descriptor in self._known(entry, block)}
        key = self._one(key_type, fields.get("key"))
        if value_type.message_type is None:
            into[key] = self._one(value_type, fields.get("value"))
            return
        into[key].Clear()
        if "value" in fields:
            for child in self._blocks(fields["value"]):
                self.fill(into[key], child)

    def _known(self, kind: Any, block: TextBlock) -> Iterator[Tuple[TextField, Any]]:
        """The fields of the block that ``kind`` has, each with its descriptor."""
        taken: Dict[str, str] = {}
        for field in block.fields:
            descriptor = kind.fields_by_name.get(field.name)
            if descriptor is None:
                self._unknown(kind, field)
            elif is_repeated(descriptor):
                yield field, descriptor
            elif field.is_list:
                self._fault(phrase("{} takes one value, not a list", shown(field.name)), field)
            else:
                oneof = descriptor.containing_oneof
                slot = field.name if oneof is None else "oneof " + oneof.name
                if slot not in taken:
                    taken[slot] = field.name
                    yield field, descriptor
                elif taken[slot] == field.name:
                    self._fault(phrase("{} is set twice", shown(field.name)), field)
                else:
                    reason = "{} and {} are both set; only one of them is allowed"
                    self._fault(phrase(reason, shown(field.name), shown(taken[slot])), field)

    def _unknown(self, kind: Any, field: TextField) -> None:
        close = near(field.name, kind.fields_by_name)
        hint = "" if close is None else phrase('; did you mean "{}"?', close)
        owner = phrase("an entry of a map") if kind.GetOptions().map_entry else kind.name
        self._fault(phrase("{} has no field {}{}", owner, shown(field.name), hint), field)

    def _blocks(self, field: TextField) -> Iterator[TextBlock]:
        for value in field.values:
            if isinstance(value, TextBlock):
                yield value
            else:
                reason = "{} takes a message in braces, found {}"
                self._fault(phrase(reason, shown(field.name), _found(value)), value)

    def _scalars(self, descriptor: Any, field: TextField) -> Iterator[Any]:
        for value in field.values:
            try:
                if isinstance(value, TextBlock):
                    raise _MisfitError
                yield _scalar(descriptor, value.value)
            except _MisfitError:
                reason = "{} takes {}, found {}"
                expected = _expected(descriptor)
                self._fault(phrase(reason, shown(field.name), expected, _found(value)), value)

    def _one(self, descriptor: Any, field: Optional[TextField]) -> Any:
        values = () if field is None else self._scalars(descriptor, field)
        return next(iter(values), descriptor.default_value)

    def _fault(self, reason: str, at: Union[TextField, Scalar, TextBlock]) -> None:
        self._log.fault(at.start, at.end, reason)


def _scalar(descriptor: Any, value: Union[bytes, str]) -> Any:
    kind = descriptor.cpp_type
    if kind == FieldDescriptor.CPPTYPE_STRING:
        if isinstance(value, str):
            raise _MisfitError
        return value if descriptor.type == FieldDescriptor.TYPE_BYTES else _text(value)
    if isinstance(value, bytes):
        raise _MisfitError
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return _fitting(prototext.boolean(value))
    if kind == FieldDescriptor.CPPTYPE_ENUM:
        named = descriptor.enum_type.values_by_name.get(value)
        return _integer(value, -(2**31), 2**31 - 1) if named is None else named.number
    if kind in _RANGES:
        return _integer(value, *_RANGES[kind])
    number: float = _fitting(prototext.real(value))
    return single(number) if kind == FieldDescriptor.CPPTYPE_FLOAT else number


def _fitting(value: Any) -> Any:
    if value is None:
        raise _MisfitError
    return value


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise _MisfitError from None


def _integer(text: str, low: int, high: int) -> int:
    number = prototext.integer(text)
    if number is None or not low <= number <= high:
        raise _MisfitError
    return number


def _expected(descriptor: Any) -> str:
    kind = descriptor.cpp_type
    if kind in _RANGES:
        return phrase("an integer from {} to {}", *_RANGES[kind])
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return phrase("true or false")
    if kind == FieldDescriptor.CPPTYPE_STRING:
        only_utf8 = descriptor.type == FieldDescriptor.TYPE_STRING
        return phrase("UTF-8 text in quotes" if only_utf8 else "text in quotes")
    if kind == FieldDescriptor.CPPTYPE_ENUM:
        names = [value.name for value in descriptor.enum_type.values]
        if len(names) > _MAX_NAMES:
            return phrase("a name of the enum {}", descriptor.enum_type.name)
        return phrase("{} or {}", join(", ", names[:-1]), names[-1])
    return phrase("a number")


def _found(value: Union[Scalar, TextBlock]) -> str:
    if isinstance(value, TextBlock):
        return phrase("a message")
    if isinstance(value.value, bytes):
        return phrase("the text {}", shown(value.value.decode("utf-8", "backslashreplace")))
    return shown(value.value)


def read_bytes(data: bytes, message: Any) -> Any:
    """Fill an empty message from its binary form, and return it.

    Args:
        data: the bytes.
        message: any protobuf message.

    Raises:
        ProtoSyntaxError: when they are not such a message, or nested too deep (protobuf
            reads 100 levels).
    """
    refused = False
    # Before protobuf 4 its C++ implementation only warns of bytes that it has not read.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            message.ParseFromString(data)
        # Its Python implementation lets bad UTF-8 and deep nesting through as they come.
        except (DecodeError, UnicodeDecodeError, RecursionError):
            refused = True
    if refused or caught:
        reason = phrase("the bytes are not a serialized {}", message.DESCRIPTOR.name)
        raise ProtoSyntaxError([Fault(reason)])
    return message


def write_text(message: Any) -> str:
    """The text form of a message; empty for one without fields."""
    lines: List[str] = []
    _message(message, "", lines)
    return "".join(line + "\n" for line in lines)


def write_line(message: Any) -> str:
    """The text form of a message in one line."""
    lines: List[str] = []
    _message(message, "", lines)
    return " ".join(line.lstrip(" ") for line in lines)


def _message(message: Any, indent: str, lines: List[str]) -> None:
    for field, value in message.ListFields():
        if is_map(field):
            key_field = field.message_type.fields_by_name["key"]
            value_field = field.message_type.fields_by_name["value"]
            for key in sorted(value):
                lines.append("{}{} {{".format(indent, field.name))
                if key:
                    _field(key_field, key, indent + "  ", lines)
                if value_field.message_type is not None or value[key]:
                    _field(value_field, value[key], indent + "  ", lines)
                lines.append(indent + "}")
        elif is_repeated(field):
            for item in value:
                _field(field, item, indent, lines)
        else:
            _field(field, value, indent, lines)


def _field(field: Any, value: Any, indent: str, lines: List[str]) -> None:
    if field.message_type is None:
        lines.append("{}{}: {}".format(indent, field.name, _written(field, value)))
    else:
        lines.append("{}{} {{".format(indent, field.name))
        _message(value, indent + "  ", lines)
        lines.append(indent + "}")


def _written(field: Any, value: Any) -> str:
    kind = field.cpp_type
    if kind == FieldDescriptor.CPPTYPE_STRING:
        data = value.encode("utf-8") if isinstance(value, str) else value
        return '"{}"'.format(octal_escapes(data))
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return "true" if value else "false"
    if kind == FieldDescriptor.CPPTYPE_ENUM:
        named = field.enum_type.values_by_number.get(value)
        return str(value if named is None else named.name)
    if kind == FieldDescriptor.CPPTYPE_FLOAT:
        return str(_shortest(value))
    return str(value)


def _shortest(value: float) -> float:
    """The number with the fewest digits that is this one in a float field."""
    for digits in range(6, 9):
        short = float("{:.{}g}".format(value, digits))
        if single(short) == value:
            return short
    return float("{:.9g}".format(value))
