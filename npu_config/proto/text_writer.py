"""From a message to its text form, the same on every protobuf.

The text is the one that protobuf for Python prints beside TensorFlow 1.15: map entries
in order of their keys, what is not ASCII in octal escapes, the shortest number that is
read back as the same float.  (protobuf 3.11's own printer loses digits of floats, and
later ones print other escapes.)  Unknown fields have no text form.
"""

from typing import Any, List

from google.protobuf.descriptor import FieldDescriptor

from npu_config.proto.reflection import is_map, is_repeated, single

_ESCAPES = {code: "\\{:03o}".format(code) for code in (*range(32), *range(127, 256))}
_ESCAPES.update({ord("\t"): r"\t", ord("\n"): r"\n", ord("\r"): r"\r"})
_ESCAPES.update({ord('"'): r"\"", ord("'"): r"\'", ord("\\"): r"\\"})


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
        return '"{}"'.format(data.decode("latin-1").translate(_ESCAPES))
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
