"""What is asked of descriptors, in words that every protobuf from 3.11 on understands."""

import struct
from typing import Any

from google.protobuf.descriptor import FieldDescriptor


def is_repeated(field: Any) -> bool:
    """Whether a field can have several values; true for maps, too."""
    repeated = getattr(field, "is_repeated", None)
    if repeated is None:
        return bool(field.label == FieldDescriptor.LABEL_REPEATED)
    return bool(repeated)


def is_map(field: Any) -> bool:
    """Whether a field is a map."""
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def single(number: float) -> float:
    """The number as a field of type float holds it."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        return float("-inf" if number < 0 else "inf")
