"""AIPP configurations from protobuf text: blocks ``aipp_op`` of scalar fields."""

from typing import Callable, Dict, List, Mapping, Optional, Union

from npu_config.catalogue.kinds import Bool, Choice, Kind, Real, Text
from npu_config.core.message import phrase
from npu_config.sidefiles import _aipp_rules as rules
from npu_config.sidefiles._aipp_fields import FIELDS, Value, accepts, legal
from npu_config.text import prototext
from npu_config.text.faults import FaultLog
from npu_config.text.source import PlaceTable
from npu_config.text.words import near, shown

Fields = Dict[str, Optional[Value]]


def unknown(name: object) -> str:
    """The message for a field that is not in the template."""
    return phrase(
        "unknown field {}; legal: the {} fields of the AIPP template", shown(name), len(FIELDS)
    )


def read(log: FaultLog, places: PlaceTable) -> List[Fields]:
    """The fields of each ``aipp_op``; None for one that has no readable value.

    Args:
        log: holds the text, and gets the faults.
        places: gets the places, by index of the block and name.

    Raises:
        StopReading: too many faults.
    """
    blocks: List[Fields] = []
    root = prototext.parse(log)
    for field in root.fields:
        for value in field.values:
            if field.name in FIELDS:
                if not log.diagnostics:
                    message = "{} is outside of a block; write aipp_op {{ ... }} around the fields"
                    log.fault(field.start, field.end, phrase(message, field.name))
                return []
            if field.name != "aipp_op":
                message = "a block aipp_op {{ ... }} is expected, not {}"
                meant = near(field.name, ("aipp_op",))
                message = phrase(message, shown(field.name))
                log.report(log.rule, field.start, field.end, message, meant=meant)
            if isinstance(value, prototext.Block):
                place = log.source.place(field.start, field.end)
                places.put((len(blocks),), place, place)
                blocks.append({})
                for inner in value.fields:
                    _field(log, places, blocks, inner)
            elif field.name == "aipp_op":
                log.fault(field.start, field.end, '"{" is missing after aipp_op')
    if not blocks and not log.diagnostics:
        log.fault(root.end, root.end, "the text has no aipp_op { ... }")
    return blocks


def _field(
    log: FaultLog, places: PlaceTable, blocks: List[Fields], given: prototext.Field
) -> None:
    fields, name = blocks[-1], given.name
    kind = FIELDS.get(name)
    if kind is None:
        meant = near(name, [other for other in FIELDS if other not in fields])
        log.report(rules.insert_op_field, given.start, given.end, unknown(name), meant=meant)
        if meant is not None:
            fields[meant] = None
    elif fields.get(name) is not None or len(given.values) != 1:
        message = phrase("{} appears twice in this block", shown(name))
        log.report(rules.insert_op_field, given.start, given.end, message)
    else:
        written = given.values[0]
        source = log.source
        places.put(
            (len(blocks) - 1, name),
            source.place(given.start, given.end),
            source.place(written.start, written.end),
        )
        value = _value(kind, written)
        fields[name] = value
        if value is None or not accepts(kind, value):
            text = source.text[written.start : written.end]
            message = phrase("{} is {}; legal: {}", name, shown(text), legal(kind))
            meant = near(text, getattr(kind, "values", ("true", "false")))
            log.report(rules.insert_op_value, written.start, written.end, message, meant=meant)


_READERS: Mapping[type, Callable[[str], Optional[Value]]] = {
    Bool: prototext.boolean,
    Real: prototext.real,
    Choice: str,
}


def _value(kind: Kind, given: Union[prototext.Scalar, prototext.Block]) -> Optional[Value]:
    """The value as the field takes it; None when it is of another kind."""
    if isinstance(given, prototext.Block) or isinstance(given.value, bytes) != isinstance(
        kind, Text
    ):
        return None
    if isinstance(given.value, bytes):
        return given.value.decode("utf-8", "replace")
    return _READERS.get(type(kind), prototext.integer)(given.value)
