"""The wire layer: ConfigProto with and without TensorFlow, text and bytes, encode, decode.

Importing this package imports neither protobuf nor the reader of texts; the first
message that is made, and the first text that is read, do.
"""

from typing import TYPE_CHECKING, Any, Optional, Union

from npu_config.proto.config_proto import (
    Overwritten,
    config_proto_class,
    decode,
    encode,
    stub_config_proto,
)
from npu_config.proto.faults import Fault, ProtoSyntaxError

if TYPE_CHECKING:
    from npu_config.proto.places import TextPositions

__all__ = [
    "stub_config_proto",
    "config_proto_class",
    "parse_text",
    "parse_bytes",
    "text_positions",
    "to_text",
    "to_bytes",
    "decode",
    "encode",
    "Overwritten",
    "Fault",
    "ProtoSyntaxError",
]


def parse_text(
    text: Union[str, bytes],
    message_class: Optional[Any] = None,
    limit: Optional[int] = None,
) -> Any:
    """Read the text form (pbtxt) of a message.

    Args:
        text: the text; bytes are taken as UTF-8.
        message_class: the class to make; None: the stub's ConfigProto.
        limit: how many characters it may have; None: 4 Mi, far beyond any ConfigProto.

    Raises:
        ProtoSyntaxError: with line, column and reason of every fault.
    """
    from npu_config.proto.messages import read_text

    return read_text(text, (message_class or stub_config_proto())(), limit)


def text_positions(text: Union[str, bytes]) -> "TextPositions":
    """Find where the text form of a ConfigProto has its options; see :func:`decode`.

    Args:
        text: what :func:`parse_text` was given.

    Raises:
        ProtoSyntaxError: when it is not text format.
    """
    from npu_config.proto.places import find

    return find(text)


def parse_bytes(data: bytes, message_class: Optional[Any] = None) -> Any:
    """Read the binary form of a message.

    Args:
        data: the bytes.
        message_class: the message class to make; None: the stub's ConfigProto.

    Raises:
        ProtoSyntaxError: when they are not a message.
    """
    from npu_config.proto.messages import read_bytes

    return read_bytes(data, (message_class or stub_config_proto())())


def to_text(message: Any) -> str:
    """The text form of a message, as TensorFlow 1.15 prints it, on every protobuf."""
    from npu_config.proto.messages import write_text

    return write_text(message)


def to_bytes(message: Any) -> bytes:
    """The binary form of a message; equal messages give equal bytes."""
    return bytes(message.SerializeToString(deterministic=True))
