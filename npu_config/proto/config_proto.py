"""ConfigProto: its class with and without TensorFlow, and settings from and into one."""

import functools
import importlib
import importlib.util
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

if TYPE_CHECKING:
    from npu_config.proto.places import TextPositions


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


def decode(
    config: Any, path: Optional[str] = None, positions: "Optional[TextPositions]" = None
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

Raw = Union[bool, int, float, str, bytes]


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
        values: option name to the AttrValue field that carries it and its value, in
            the order in which they shall be written; text is written as UTF-8.
        base: the ConfigProto to start from; it is not changed.  None: an empty one with
            ``allow_soft_placement``.
        config_class: the class to make when there is no base; None:
            :func:`~npu_config.proto.config_proto.config_proto_class`.

    Returns:
        A new message of the class of ``base``, and what in ``base`` was overwritten.

    Raises:
        TypeError: when ``base`` is not a ConfigProto.
    """
    overwritten: Tuple[Overwritten, ...] = ()
    if base is None:
        config = (config_class or config_proto_class())(allow_soft_placement=True)
    else:
        config = _copy(base)
        overwritten = (*_switched_off(base), *_replaced(values, _entries(base)))
    kind: Any = type(config)
    config.MergeFromString(_switches(kind))
    entries = () if base is None else _entries(config)
    parameters = (entries[-1] if entries else _add_entry(config)).parameter_map
    for name, (field, value) in values.items():
        if field == "s" and isinstance(value, str):
            parameters[name].s = value.encode("utf-8", "surrogateescape")
        else:
            setattr(parameters[name], field, value)
    return config, overwritten


@functools.lru_cache(maxsize=8)
def _switches(config_class: Any) -> bytes:
    """The passes that are off, as bytes: merging them is one call of protobuf in place of nine."""
    config = config_class()
    for path, number in _PASSES.items():
        *parents, field = path.split(".")
        setattr(functools.reduce(getattr, parents, config), field, number)
    return bytes(config.SerializeToString())


def _copy(base: Any) -> Any:
    if getattr(getattr(base, "DESCRIPTOR", None), "full_name", None) != "tensorflow.ConfigProto":
        raise TypeError(phrase("base must be a ConfigProto, not {}", type(base).__name__))
    config = type(base)()
    config.CopyFrom(base)
    return config


def _entries(config: Any) -> Sequence[Any]:
    optimizers = config.graph_options.rewrite_options.custom_optimizers
    return [entry for entry in optimizers if entry.name == NPU_OPTIMIZER]


def _add_entry(config: Any) -> Any:
    return config.graph_options.rewrite_options.custom_optimizers.add(name=NPU_OPTIMIZER)


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
