"""A ConfigProto into settings."""

from operator import itemgetter
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from npu_config.core.diagnostics import Place
from npu_config.core.names import NPU_OPTIMIZER
from npu_config.core.settings import SessionFacts, Setting, Settings, SourceKind

if TYPE_CHECKING:
    from npu_config.proto.places import TextPositions


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
    from npu_config.proto.text_writer import write_line

    return write_line(content)


def enum_name(message: Any, field: str, number: int) -> str:
    """The name that an enum field has for a number; its decimal text when it has none."""
    value = message.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number.get(number)
    return str(number) if value is None else str(value.name)
