"""ConfigProto with and without TensorFlow: its class, text and bytes, settings from and into one.

Importing this package imports neither protobuf nor the reader of texts; the first message that is
made, and the first text that is read, do.  A configuration becomes bytes and text without either.
"""

from __future__ import annotations

import functools
from operator import itemgetter
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from npu_config.core.diagnostics import Place
from npu_config.core.message import phrase
from npu_config.core.names import NPU_OPTIMIZER
from npu_config.core.settings import SessionFacts, Setting, Settings, SourceKind
from npu_config.text.plain_text import octal_escapes

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
    "text_of",
    "bytes_of",
    "decode",
    "encode",
    "Overwritten",
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
    import importlib.util

    try:
        if importlib.util.find_spec("tensorflow") is not None:
            return importlib.import_module("tensorflow").compat.v1.ConfigProto
    except Exception:  # whatever a broken installation raises while it is imported
        pass
    return stub_config_proto()


def decode(
    config: Any, path: Optional[str] = None, positions: Optional[TextPositions] = None
) -> Settings:
    """What a ConfigProto sets.

    Of several ``NpuOptimizer`` entries the later wins, option by option, as in the
    runtime; that there are several is seen in ``session.optimizers``.

    Args:
        config: a ConfigProto, TensorFlow's or the stub's.
        path: the file it was read from.
        positions: where the text that it was parsed from has what
            (:func:`npu_config.proto.text_positions`).
    """
    whole = Place(path) if positions is None else positions.place._replace(path=path)
    rewrite = config.graph_options.rewrite_options
    optimizer = config.graph_options.optimizer_options
    entries: Dict[str, Setting] = {}
    names: List[str] = []
    places: List[Place] = []
    for index, entry in enumerate(rewrite.custom_optimizers):
        place, options = whole, {}
        if positions is not None:
            place = positions.optimizers[index].place._replace(path=path)
            options = positions.optimizers[index].by_name
        names.append(entry.name)
        places.append(place)
        if entry.name != NPU_OPTIMIZER:
            continue
        for name, attr_value in sorted(entry.parameter_map.items(), key=itemgetter(0)):
            wire = attr_value.WhichOneof("value")
            value = None if wire is None else plain(getattr(attr_value, wire))
            key_place, value_place, field_place = options.get(name, (place, place, None))
            entries[name] = Setting(
                value,
                wire or "",
                value_place._replace(path=path),
                key_place._replace(path=path),
                field_place and field_place._replace(path=path),
            )
    session = SessionFacts(
        optimizers=tuple(names),
        remapping=enum_name(rewrite, "remapping", rewrite.remapping),
        memory_optimization=enum_name(rewrite, "memory_optimization", rewrite.memory_optimization),
        global_jit_level=enum_name(optimizer, "global_jit_level", optimizer.global_jit_level),
        allow_soft_placement=config.allow_soft_placement,
        place=whole,
        optimizer_places=tuple(places),
        places={}
        if positions is None
        else {name: at._replace(path=path) for name, at in positions.fields.items()},
    )
    return Settings(entries, SourceKind.PROTO, session=session, place=whole)


def plain(content: Any) -> Any:
    """The content of an AttrValue field as a plain value.

    Bytes become text (what is not UTF-8 in it stays, as surrogate escapes), a message
    its one-line text form.
    """
    if isinstance(content, bytes):
        return content.decode("utf-8", "surrogateescape")
    if isinstance(content, (bool, int, float, str)):
        return content
    from npu_config.proto.messages import write_line

    return write_line(content)


def enum_name(message: Any, field: str, number: int) -> str:
    """The name that an enum field has for a number; its decimal text when it has none."""
    value = message.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number.get(number)
    return str(number) if value is None else str(value.name)


_PASSES = {
    "graph_options.rewrite_options.remapping": 2,  # RewriterConfig.Toggle.OFF
    # RewriterConfig.MemOptType has no OFF: what switches the pass off is NO_MEM_OPT.  The
    # vendor's recipe writes Toggle.OFF (2) into this field, where it means MANUAL.
    "graph_options.rewrite_options.memory_optimization": 1,
    "graph_options.optimizer_options.global_jit_level": -1,  # GlobalJitLevel.OFF
}
"""The fields that are switched off, and the numbers that mean off."""

Raw = Union[bool, int, str, bytes]


class Overwritten(NamedTuple):
    """A value of the user's that was replaced.

    ``what`` is an option name, or the path of a field from ConfigProto on; ``old`` and
    ``new`` are the values, for enums their names.
    """

    what: str
    old: Any
    new: Any


def encode(
    values: Mapping[str, Tuple[str, Raw]],
    base: Optional[Any] = None,
    config_class: Optional[Any] = None,
) -> Tuple[Any, Tuple[Overwritten, ...]]:
    """Make a ConfigProto that carries the options and what the NPU requires around them.

    The options go into the ``NpuOptimizer`` entry of ``custom_optimizers``, which is
    added when there is none (of several, the last is taken: it is the one that wins);
    remapping, memory optimization and XLA's global JIT are switched off.

    Args:
        values: option name to the AttrValue field that carries it (``"s"``, ``"i"`` or
            ``"b"``; none has another) and its value; text is written as UTF-8.
        base: the ConfigProto to start from; it is not changed.  None: an empty one with
            ``allow_soft_placement``.
        config_class: the class to make when there is no base; None:
            :func:`~npu_config.proto.config_proto_class`.

    Returns:
        A new message of the class of ``base``, and what in ``base`` was overwritten.

    Raises:
        TypeError: when ``base`` is not a ConfigProto.
    """
    if base is None:
        return (config_class or config_proto_class()).FromString(bytes_of(values)), ()
    config = _copy(base)
    overwritten = (*_switched_off(base), *_replaced(values, _entries(base)))
    entries = _entries(config)
    config.MergeFromString(_graph_options(b"" if entries else _entry(tuple(values.items()))))
    if entries:  # protobuf for C++ does not merge maps: it would hold names twice
        parameters = entries[-1].parameter_map
        for name, (field, value) in values.items():
            setattr(parameters[name], field, _utf8(value) if field == "s" else value)
    return config, overwritten


def varint_bytes(number: int) -> bytes:
    """A number as it stands in a message."""
    if number < 0x80:
        return bytes((number,))
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


# One call of protobuf takes a tenth of the time that a call for each option takes, and to write
# a configuration needs none: importing protobuf takes longer than all else that is done here.

_NAME = b"\n\x0c" + NPU_OPTIMIZER.encode()
_JIT_OFF = b"\x1a\x0b\x28" + varint_bytes(2**64 - 1)
_MEMORY_AND_REMAPPING_OFF = b"\x20\x01\x70\x02"


def bytes_of(values: Mapping[str, Tuple[str, Raw]]) -> bytes:
    """The bytes of the ConfigProto that :func:`encode` makes; equal options give equal bytes."""
    return _bytes_of(tuple(values.items()))


@functools.lru_cache(maxsize=16)
def _bytes_of(items: Tuple[Tuple[str, Tuple[str, Raw]], ...]) -> bytes:
    """The bytes of the whole; a configuration is written more often than it is changed."""
    return b"\x38\x01" + _graph_options(_entry(items))


def _graph_options(custom_optimizers: bytes) -> bytes:
    return b"\x52" + _sized(
        _JIT_OFF + b"\x52" + _sized(_MEMORY_AND_REMAPPING_OFF + custom_optimizers)
    )


@functools.lru_cache(maxsize=16)
def _entry(items: Tuple[Tuple[str, Tuple[str, Raw]], ...]) -> bytes:
    """The entry of the optimizer."""
    parameters = b"".join([_parameter(name, *value) for name, value in sorted(items)])
    return b"\xc2\x0c" + _sized(_NAME + parameters)


@functools.lru_cache(maxsize=1024)
def _parameter(name: str, field: str, value: Any) -> bytes:
    if field == "b":
        content = b"\x28\x01" if value else b"\x28\x00"
    elif field == "i":
        content = b"\x18" + varint_bytes(int(value) % 2**64)
    else:
        content = b"\x12" + _sized(_utf8(value))
    return b"\x12" + _sized(b"\n" + _sized(name.encode()) + b"\x12" + _sized(content))


def _sized(data: bytes) -> bytes:
    return varint_bytes(len(data)) + data


def _utf8(value: Any) -> bytes:
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


_TEXT = """\
allow_soft_placement: true
graph_options {{
  optimizer_options {{
    global_jit_level: OFF
  }}
  rewrite_options {{
    memory_optimization: NO_MEM_OPT
    remapping: OFF
    custom_optimizers {{
      name: "NpuOptimizer"
{}    }}
  }}
}}
"""
_PARAMETER = """\
      parameter_map {{
        key: "{}"
        value {{
          {}: {}
        }}
      }}
"""


def text_of(values: Mapping[str, Tuple[str, Raw]]) -> str:
    """The text of the ConfigProto that :func:`encode` makes."""
    parts = []
    for name, (field, value) in sorted(values.items()):
        if field == "s":
            written = '"{}"'.format(octal_escapes(_utf8(value)))
        else:
            written = str(value).lower()
        parts.append(_PARAMETER.format(octal_escapes(name.encode()), field, written))
    return _TEXT.format("".join(parts))


def _copy(base: Any) -> Any:
    if getattr(getattr(base, "DESCRIPTOR", None), "full_name", None) != "tensorflow.ConfigProto":
        raise TypeError(phrase("base must be a ConfigProto, not {}", type(base).__name__))
    config = type(base)()
    config.CopyFrom(base)
    return config


def _entries(config: Any) -> Sequence[Any]:
    optimizers = config.graph_options.rewrite_options.custom_optimizers
    return [entry for entry in optimizers if entry.name == NPU_OPTIMIZER]


def _switched_off(config: Any) -> Iterator[Overwritten]:
    """The passes that the user set to something else."""
    for path, number in _PASSES.items():
        *parents, field = path.split(".")
        message = functools.reduce(getattr, parents, config)
        old = getattr(message, field)
        if old and old != number:
            names = enum_name(message, field, old), enum_name(message, field, number)
            yield Overwritten(path, *names)


def _replaced(
    values: Mapping[str, Tuple[str, Raw]], entries: Sequence[Any]
) -> Iterator[Overwritten]:
    """The options that have another field or content in the last entry that says something."""
    maps = [entry.parameter_map for entry in reversed(entries) if entry.parameter_map]
    for name, (field, value) in values.items() if maps else ():
        said = (parameters[name] for parameters in maps if name in parameters)
        old = next((each for each in said if each.WhichOneof("value") is not None), None)
        if old is None:
            continue
        raw = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
        old_field = old.WhichOneof("value")
        content = getattr(old, old_field)
        if old_field != field or content != raw:
            yield Overwritten(name, plain(content), value)


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


def text_positions(text: Union[str, bytes]) -> TextPositions:
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
