"""Hypothesis strategies for messages of any class, over everything their fields can hold."""

import hypothesis.strategies as st
from google.protobuf.descriptor import FieldDescriptor as Descriptor

from npu_config.proto.schema import is_map, is_repeated

_TEXT = st.text(st.characters(blacklist_categories=("Cs",)), max_size=6)
_SCALARS = {
    Descriptor.TYPE_BOOL: st.booleans(),
    Descriptor.TYPE_STRING: _TEXT,
    Descriptor.TYPE_BYTES: st.binary(max_size=6)
    | st.sampled_from([b"allow_mix", "路径".encode()]),
    Descriptor.TYPE_FLOAT: st.floats(width=32, allow_nan=False),
    Descriptor.TYPE_DOUBLE: st.floats(allow_nan=False),
    Descriptor.TYPE_INT32: st.integers(-(2**31), 2**31 - 1),
    Descriptor.TYPE_INT64: st.integers(-(2**63), 2**63 - 1),
    Descriptor.TYPE_SINT64: st.integers(-(2**63), 2**63 - 1),
    Descriptor.TYPE_UINT32: st.integers(0, 2**32 - 1),
    Descriptor.TYPE_UINT64: st.integers(0, 2**64 - 1),
}
_SMALL = st.integers(1, 2)


@st.composite
def messages(draw, message_class, depth=6, skip=()):
    """Messages with any of their fields set, nested up to ``depth``.

    ``skip`` names fields (full names) that stay unset.
    """
    message = message_class()
    _fill(draw, message, depth, skip)
    return message


def _fill(draw, message, depth, skip):
    fields = [
        field
        for field in message.DESCRIPTOR.fields
        if (depth or field.message_type is None) and field.full_name not in skip
    ]
    for field in draw(st.lists(st.sampled_from(fields), max_size=4, unique_by=_name)):
        kind, name = field.message_type, field.name
        if is_map(field):
            for _ in range(draw(_SMALL)):
                key = draw(_scalar(kind.fields_by_name["key"]))
                value = kind.fields_by_name["value"]
                if value.message_type is None:
                    getattr(message, name)[key] = draw(_scalar(value))
                else:
                    _fill(draw, getattr(message, name)[key], depth - 1, skip)
        elif kind is not None and is_repeated(field):
            for _ in range(draw(_SMALL)):
                _fill(draw, getattr(message, name).add(), depth - 1, skip)
        elif kind is not None:
            getattr(message, name).SetInParent()
            _fill(draw, getattr(message, name), depth - 1, skip)
        elif is_repeated(field):
            getattr(message, name).extend(draw(st.lists(_scalar(field), max_size=3)))
        else:
            setattr(message, name, draw(_scalar(field)))


def _name(field):
    return field.name


def _scalar(field):
    if field.type == Descriptor.TYPE_ENUM:
        numbers = [value.number for value in field.enum_type.values]
        return st.sampled_from(numbers) | st.just(77)
    return _SCALARS[field.type]
