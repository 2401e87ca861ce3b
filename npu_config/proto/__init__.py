"""The wire layer: ConfigProto with and without TensorFlow, text and bytes, encode, decode.

Importing this package does not import protobuf; the first message that is made does.
"""

import functools
import importlib
import importlib.util
from typing import Any, Optional, Union

from npu_config.proto.decode import decode
from npu_config.proto.encode import Overwritten, encode
from npu_config.proto.faults import Fault, ProtoSyntaxError

__all__ = [
    "stub_config_proto",
    "config_proto_class",
    "parse_text",
    "parse_bytes",
    "to_text",
    "to_bytes",
    "decode",
    "encode",
    "Overwritten",
    "Fault",
    "ProtoSyntaxError",
]


def stub_config_proto() -> Any:
    """The ConfigProto class of this package, wire-compatible with TensorFlow 1.15's."""
    from npu_config.proto.schema import session_message

    return session_message("ConfigProto")


@functools.lru_cache(maxsize=None)
def config_proto_class() -> Any:
    """``tf.ConfigProto`` (of ``compat.v1``) where TensorFlow is installed, else the stub.

    A TensorFlow that cannot be imported (one that its protobuf is too new for, say)
    counts as none.
    """
    try:
        if importlib.util.find_spec("tensorflow") is not None:
            return importlib.import_module("tensorflow").compat.v1.ConfigProto
    except Exception:  # whatever a broken installation raises while it is imported
        pass
    return stub_config_proto()


def parse_text(text: Union[str, bytes], config_class: Optional[Any] = None) -> Any:
    """Read the text form (pbtxt) of a ConfigProto.

    Args:
        text: the text; bytes are taken as UTF-8.
        config_class: the message class to make; None: the stub's ConfigProto.

    Raises:
        ProtoSyntaxError: with line, column and reason of every fault.
    """
    from google.protobuf import text_format

    message = (config_class or stub_config_proto())()
    try:
        text_format.Parse(text, message)
    except text_format.ParseError as error:
        line, column = error.GetLine() or 1, error.GetColumn() or 1
        raise ProtoSyntaxError([Fault(str(error), line, column)]) from None
    return message


def parse_bytes(data: bytes, config_class: Optional[Any] = None) -> Any:
    """Read the binary form of a ConfigProto.

    Args:
        data: the bytes.
        config_class: the message class to make; None: the stub's ConfigProto.

    Raises:
        ProtoSyntaxError: when they are not a message.
    """
    from google.protobuf.message import DecodeError

    message = (config_class or stub_config_proto())()
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise ProtoSyntaxError([Fault(str(error))]) from None
    return message


def to_text(message: Any) -> str:
    """The text form of a message, as TensorFlow 1.15 prints it, on every protobuf."""
    from google.protobuf import text_format

    return str(text_format.MessageToString(message, as_utf8=False))


def to_bytes(message: Any) -> bytes:
    """The binary form of a message; equal messages give equal bytes."""
    return bytes(message.SerializeToString(deterministic=True))
