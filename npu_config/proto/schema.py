"""The message classes of ``session.proto`` and ``graph.proto``, in a pool of their own.

The pool is private: nothing is registered beside TensorFlow's own messages, so both can
live in one process.  One code path serves every protobuf from 3.11 on, whichever
implementation (Python, C++, upb) is behind it.
"""

import functools
import pkgutil
import struct
from typing import Any, Dict

from google.protobuf import descriptor_pool, message_factory
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


class _DescriptorPool:
    """The private pool, and the kinds of the types in it."""

    def __init__(self) -> None:
        self._pool = descriptor_pool.DescriptorPool()
        # protobuf 4.22 to 4.24 crashes when the class of a field was collected as garbage.
        self._classes: Dict[str, Any] = {}
        # From protobuf 4.22 on a function makes the class; before, a factory that must
        # be one and the same for all messages of the pool.
        factory: Any = message_factory
        self._get_class = getattr(factory, "GetMessageClass", None) or (
            factory.MessageFactory(self._pool).GetPrototype
        )
        self.add("session.binpb")

    def add(self, name: str) -> None:
        self._pool.AddSerializedFile(pkgutil.get_data(__name__, name) or b"")

    def message(self, name: str) -> Any:
        pending = [self._pool.FindMessageTypeByName(name)]
        while pending:
            descriptor = pending.pop()
            if descriptor.full_name not in self._classes:
                self._classes[descriptor.full_name] = self._get_class(descriptor)
                pending.extend(f.message_type for f in descriptor.fields if f.message_type)
        return self._classes[name]


@functools.lru_cache(maxsize=None)
def _session_pool() -> _DescriptorPool:
    return _DescriptorPool()


@functools.lru_cache(maxsize=None)
def _graph_pool() -> _DescriptorPool:
    pool = _session_pool()
    pool.add("graph.binpb")
    return pool


@functools.lru_cache(maxsize=None)
def session_message(name: str) -> Any:
    """The class of a message of ``session.proto``.

    Args:
        name: its name without the package, e.g. ``"ConfigProto"``.

    Raises:
        KeyError: when there is none of that name.
    """
    return _session_pool().message("tensorflow." + name)


@functools.lru_cache(maxsize=None)
def graph_message(name: str) -> Any:
    """The class of a message of ``graph.proto``.

    Args:
        name: its name without the package, e.g. ``"GraphDef"``.

    Raises:
        KeyError: when there is none of that name.
    """
    return _graph_pool().message("tensorflow." + name)
