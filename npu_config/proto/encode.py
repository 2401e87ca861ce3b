"""Options into a ConfigProto."""

from typing import Any, List, Mapping, NamedTuple, Optional, Tuple, Union

from npu_config.proto.decode import NPU_OPTIMIZER, attr_content, enum_name

# RewriterConfig.Toggle.OFF and OptimizerOptions.GlobalJitLevel.OFF.
_REMAPPING_OFF = 2
_JIT_OFF = -1
# RewriterConfig.MemOptType has no OFF: what switches the pass off is NO_MEM_OPT.  The
# vendor's recipe writes Toggle.OFF (2) into this field, where it means MANUAL.
_MEMORY_OPTIMIZATION_OFF = 1

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
            :func:`npu_config.proto.config_proto_class`.

    Returns:
        A new message of the class of ``base``, and what in ``base`` was overwritten.
    """
    overwritten: List[Overwritten] = []
    if base is None:
        if config_class is None:
            from npu_config.proto import config_proto_class

            config_class = config_proto_class()
        config = config_class(allow_soft_placement=True)
    else:
        config = type(base)()
        config.CopyFrom(base)
    graph_options = config.graph_options
    rewrite = graph_options.rewrite_options
    _switch(rewrite, "graph_options.rewrite_options.", "remapping", _REMAPPING_OFF, overwritten)
    _switch(
        rewrite,
        "graph_options.rewrite_options.",
        "memory_optimization",
        _MEMORY_OPTIMIZATION_OFF,
        overwritten,
    )
    _switch(
        graph_options.optimizer_options,
        "graph_options.optimizer_options.",
        "global_jit_level",
        _JIT_OFF,
        overwritten,
    )
    entries = [entry for entry in rewrite.custom_optimizers if entry.name == NPU_OPTIMIZER]
    if not entries:
        entries.append(rewrite.custom_optimizers.add(name=NPU_OPTIMIZER))
    parameters = entries[-1].parameter_map
    if any(entry.parameter_map for entry in entries):
        _compare(values, entries, overwritten)
    for name, (field, value) in values.items():
        if field == "s" and isinstance(value, str):
            value = value.encode("utf-8", "surrogateescape")
        setattr(parameters[name], field, value)
    return config, tuple(overwritten)


def _switch(
    message: Any, path: str, field: str, number: int, overwritten: List[Overwritten]
) -> None:
    old = getattr(message, field)
    if old == number:
        return
    old_name = enum_name(message, field) if old else None
    setattr(message, field, number)
    if old_name is not None:
        overwritten.append(Overwritten(path + field, old_name, enum_name(message, field)))


def _compare(
    values: Mapping[str, Tuple[str, Raw]], entries: List[Any], overwritten: List[Overwritten]
) -> None:
    for name, (field, value) in values.items():
        for entry in reversed(entries):
            if name in entry.parameter_map:
                old_field, old = attr_content(entry.parameter_map[name])
                if isinstance(value, bytes):
                    value = value.decode("utf-8", "surrogateescape")
                if old_field and (old_field != field or old != value):
                    overwritten.append(Overwritten(name, old, value))
                break
