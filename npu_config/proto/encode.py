"""Options into a ConfigProto."""

from typing import Any, List, Mapping, NamedTuple, Optional, Tuple, Union

from npu_config.core.message import phrase
from npu_config.core.names import NPU_OPTIMIZER
from npu_config.proto.classes import config_proto_class
from npu_config.proto.decode import enum_name, plain

# RewriterConfig.Toggle.OFF and OptimizerOptions.GlobalJitLevel.OFF.
_REMAPPING_OFF = 2
_JIT_OFF = -1
# RewriterConfig.MemOptType has no OFF: what switches the pass off is NO_MEM_OPT.  The
# vendor's recipe writes Toggle.OFF (2) into this field, where it means MANUAL.
_MEMORY_OPTIMIZATION_OFF = 1

_REWRITE = "graph_options.rewrite_options."
_OPTIMIZER = "graph_options.optimizer_options."

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
            :func:`~npu_config.proto.classes.config_proto_class`.

    Returns:
        A new message of the class of ``base``, and what in ``base`` was overwritten.

    Raises:
        TypeError: when ``base`` is not a ConfigProto.
    """
    if base is None:
        if config_class is None:
            config_class = config_proto_class()
        config = config_class(allow_soft_placement=True)
    else:
        config = _copy(base)
    graph_options = config.graph_options
    rewrite = graph_options.rewrite_options
    overwritten: List[Overwritten] = []
    _switch(_REWRITE, rewrite, "remapping", _REMAPPING_OFF, overwritten)
    _switch(_REWRITE, rewrite, "memory_optimization", _MEMORY_OPTIMIZATION_OFF, overwritten)
    _switch(_OPTIMIZER, graph_options.optimizer_options, "global_jit_level", _JIT_OFF, overwritten)
    optimizers = rewrite.custom_optimizers
    entries = [entry for entry in optimizers if entry.name == NPU_OPTIMIZER]
    if not entries:
        entries.append(optimizers.add(name=NPU_OPTIMIZER))
    occupied = any(entry.parameter_map for entry in entries)
    parameters = entries.pop().parameter_map
    for name, (field, value) in values.items():
        raw = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
        attr_value = parameters[name]
        if occupied:
            old_field, old = _old(attr_value, name, entries)
            if old_field is not None and (old_field != field or old != raw):
                overwritten.append(Overwritten(name, plain(old), value))
        setattr(attr_value, field, raw)
    return config, tuple(overwritten)


def _copy(base: Any) -> Any:
    if getattr(getattr(base, "DESCRIPTOR", None), "full_name", None) != "tensorflow.ConfigProto":
        raise TypeError(phrase("base must be a ConfigProto, not {}", type(base).__name__))
    config = type(base)()
    config.CopyFrom(base)
    return config


def _switch(
    path: str, message: Any, field: str, number: int, overwritten: List[Overwritten]
) -> None:
    old = getattr(message, field)
    if old == number:
        return
    setattr(message, field, number)
    if old:
        names = enum_name(message, field, old), enum_name(message, field, number)
        overwritten.append(Overwritten(path + field, *names))


def _old(attr_value: Any, name: str, earlier: List[Any]) -> Tuple[Optional[str], Any]:
    """The field and the content that an option had, in this entry or an earlier one."""
    field = attr_value.WhichOneof("value")
    if field is not None:
        return field, getattr(attr_value, field)
    for entry in reversed(earlier):
        if name in entry.parameter_map:
            field, old = _old(entry.parameter_map[name], name, [])
            if field is not None:
                return field, old
    return None, None
