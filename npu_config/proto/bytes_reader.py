"""From bytes to a message, with the same answer to bad bytes on every protobuf."""

import warnings
from typing import Any

from google.protobuf.message import DecodeError

from npu_config.core.message import phrase
from npu_config.proto.faults import Fault, ProtoSyntaxError


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
