"""The file of ``insert_op_file``: AIPP, the preparation of images in front of the network.

The option is not documented for TensorFlow; the format is that of the ATC option
insert_op_conf.  Source: cann/ge:docs/zh/user_guides/atc_tools/AIPP/config_file_template.md.
"""

from contextlib import suppress
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple

import attr

from npu_config.catalogue.kinds import Kind, Real, Text
from npu_config.core.diagnostics import Diagnostic, Report, Severity
from npu_config.core.message import listed, phrase
from npu_config.core.target import ANY_TARGET, Product, Target
from npu_config.sidefiles import _aipp_rules as rules
from npu_config.sidefiles._aipp_fields import (
    FIELDS,
    INPUT_FORMATS,
    MODES,
    RESERVED,
    Value,
    accepts,
    legal,
)
from npu_config.sidefiles._aipp_parser import read, unknown
from npu_config.sidefiles._frozen import Table
from npu_config.sidefiles.format import Format, Parsed, Sample, conclude, refuse, takes_text
from npu_config.text.faults import FaultLog, StopReading
from npu_config.text.source import ANYWHERE, Path, Places, PlaceTable, Source
from npu_config.text.words import near, shown

_EVEN_SIZES = ("src_image_size_w", "src_image_size_h")
_EVEN_POSITIONS = ("load_start_pos_w", "load_start_pos_h")


def _fields(value: Mapping[str, Value]) -> Mapping[str, Value]:
    """A frozen mapping, with floats where a field holds floats."""
    given: Any = value
    if not isinstance(given, Mapping):
        return given  # type: ignore[no-any-return]
    return Table((name, _converted(FIELDS.get(name), item)) for name, item in given.items())


def _converted(kind: Optional[Kind], value: Value) -> Value:
    return float(value) if isinstance(kind, Real) and accepts(kind, value) else value


@attr.s(frozen=True, slots=True, auto_attribs=True)
class AippOp:
    """One ``aipp_op`` block: the preparation of one input.

    Args:
        fields: field to value: bools, ints, floats, and texts for words.

    Raises:
        NpuConfigError: with everything that is wrong.
    """

    fields: Mapping[str, Value] = attr.ib(converter=_fields)

    def __attrs_post_init__(self) -> None:
        refuse(_field_faults(self.fields))

    @classmethod
    def of(cls, aipp_mode: str = "static", **fields: Value) -> "AippOp":
        """A block with these fields.

        Args:
            aipp_mode: ``"static"`` or ``"dynamic"``.
            fields: e.g. ``input_format="RGB888_U8"``, ``mean_chn_0=104``, ``csc_switch=True``.

        Raises:
            NpuConfigError: with everything that is wrong.
        """
        return cls({"aipp_mode": aipp_mode, **fields})


def _ops(value: Iterable[AippOp]) -> Tuple[AippOp, ...]:
    return tuple(value)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class InsertOp:
    """The content of an AIPP configuration.

    Args:
        ops: one block for each prepared input.
    """

    ops: Tuple[AippOp, ...] = attr.ib(converter=_ops)


def _field_faults(fields: Any) -> Iterator[Diagnostic]:
    """What keeps the fields of a block from being written."""
    if not isinstance(fields, Mapping):
        message = "the fields must be a mapping of field to value"
        yield rules.insert_op_field.diagnostic(message, severity=Severity.ERROR)
        return
    for name, value in fields.items():
        if name not in FIELDS:
            meant = near(str(name), FIELDS)
            yield rules.insert_op_field.diagnostic(
                unknown(name), meant=meant, severity=Severity.ERROR
            )
        elif not accepts(FIELDS[name], value):
            message = phrase("{} is {}; legal: {}", name, shown(value), legal(FIELDS[name]))
            yield rules.insert_op_value.diagnostic(message)
    yield from _combined(fields, (), ANYWHERE)


def _combined(fields: Mapping[str, Any], path: Path, places: Places) -> Iterator[Diagnostic]:
    """What does not go together in one block, whatever the product."""
    block = places.key_place(path)
    mode, image = fields.get("aipp_mode"), fields.get("input_format")
    if "aipp_mode" not in fields:
        message = phrase("aipp_mode is missing; legal: {}", listed(MODES))
        yield rules.insert_op_combination.diagnostic(message, block)
    if mode == "static" and "input_format" not in fields:
        message = phrase("static AIPP needs input_format; legal: {}", listed(INPUT_FORMATS))
        yield rules.insert_op_combination.diagnostic(message, block)
    if mode == "dynamic" and fields.get("max_src_image_size", 0) == 0:
        message = "dynamic AIPP needs max_src_image_size, the size of the largest image in bytes"
        yield rules.insert_op_combination.diagnostic(message, block)
    if image == "YUV420SP_U8":
        yield from _odd(fields, _EVEN_SIZES, path, places)
    if mode == "static":
        yield from _geometry(fields, path, places)


def _odd(
    fields: Mapping[str, Any], names: Tuple[str, ...], path: Path, places: Places
) -> Iterator[Diagnostic]:
    for name in names:
        value = fields.get(name)
        if type(value) is int and value % 2:
            message = phrase("{} is {}; YUV420SP_U8 needs an even number", name, value)
            yield rules.insert_op_combination.diagnostic(message, places.place((*path, name)))


def _geometry(fields: Mapping[str, Any], path: Path, places: Places) -> Iterator[Diagnostic]:
    for side in ("w", "h"):
        size = fields.get("src_image_size_" + side, 0)
        for switch in ("crop", "padding"):
            if fields.get(switch) is True and size == 0:
                message = phrase("{} needs src_image_size_{}", switch, side)
                place = places.key_place((*path, switch))
                yield rules.insert_op_combination.diagnostic(message, place)
        begin = fields.get("load_start_pos_" + side, 0)
        length = fields.get("crop_size_" + side, 0)
        numbers = (size, begin, length)
        if fields.get("crop") is not True or not all(type(number) is int for number in numbers):
            continue
        if size and begin + length > size:
            message = "load_start_pos_{0} + crop_size_{0} is {1}; src_image_size_{0} is {2}"
            place = places.place((*path, "crop_size_" + side))
            yield rules.insert_op_combination.diagnostic(
                phrase(message, side, begin + length, size), place
            )


def _judge(blocks: List[Dict[str, Any]], places: Places, target: Target) -> Iterator[Diagnostic]:
    """What is wrong with blocks whose values are legal."""
    for index, fields in enumerate(blocks):
        yield from _combined(fields, (index,), places)
    yield from _about_target(blocks, places, target)


def _about_target(
    blocks: Iterable[Mapping[str, Any]], places: Places, target: Target
) -> Iterator[Diagnostic]:
    for index, fields in enumerate(blocks):
        for name in fields:
            if name in RESERVED:
                place = places.key_place((index, name))
                message = phrase("{} is not supported at present; it does nothing", name)
                yield rules.insert_op_reserved.diagnostic(message, place)
        if (
            fields.get("input_format") == "YUV420SP_U8"
            and fields.get("crop") is True
            and Product.ASCEND_950 not in target.products
        ):
            yield from _odd(fields, _EVEN_POSITIONS, (index,), places)


@takes_text
def parse(text: str, path: Optional[str] = None, target: Target = ANY_TARGET) -> Parsed[InsertOp]:
    """Read an AIPP configuration.

    Args:
        text: anything.
        path: the file it came from.
        target: what :func:`check` is to know.
    """
    source = Source(text, path)
    log, places = FaultLog(source, rules.insert_op_syntax), PlaceTable(source.place(0, len(text)))
    blocks: List[Dict[str, Any]] = []
    understood = False
    with suppress(StopReading):
        blocks = read(log, places)
        understood = not log.diagnostics
        log.add_all(_judge(blocks, places, target))
    understood = understood and Report(log.diagnostics).ok
    return conclude(
        log,
        places,
        (lambda: InsertOp(AippOp(fields) for fields in blocks)) if understood else None,
        lambda _: (),
    )


def check(
    model: InsertOp, target: Target = ANY_TARGET, places: Places = ANYWHERE
) -> Tuple[Diagnostic, ...]:
    """What does not work on a target.

    Args:
        model: the configuration.
        target: the product that it is meant for.
        places: where the parts stand (``Parsed.places``).
    """
    return tuple(_about_target([op.fields for op in model.ops], places, target))


def _written(name: str, value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and isinstance(FIELDS[name], Text):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"{}"'.format(escaped.replace("\n", "\\n").replace("\r", "\\r"))
    return repr(value) if isinstance(value, float) else str(value)


def render(model: InsertOp) -> str:
    """The canonical text of the file."""
    rows = []
    for op in model.ops:
        rows.append("aipp_op {")
        rows += ["  {}: {}".format(name, _written(name, v)) for name, v in op.fields.items()]
        rows.append("}")
    return "".join(row + "\n" for row in rows)


def _looks_like(sample: Sample) -> bool:
    return any(line.startswith(("aipp_op", "aipp_mode", "aipp {")) for line in sample.lines())


FORMAT: Format[InsertOp] = Format(
    name="insert_op",
    title="AIPP configuration",
    default_name="insert_op.cfg",
    options=("insert_op_file",),
    parser=parse,
    render=render,
    looks_like=_looks_like,
    marks=r"aipp_op",
    names=r"[\w.-]+\.aippconfig",
)
load, save = FORMAT.load, FORMAT.save

__all__ = ["FIELDS", "FORMAT", "INPUT_FORMATS", "AippOp", "InsertOp", "check", "load", "parse",
           "render", "save"]  # fmt: skip
