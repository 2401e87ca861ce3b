"""The file of ``insert_op_file``: AIPP, the preparation of images in front of the network.

The option is not documented for TensorFlow; the format is that of the ATC option
insert_op_conf.  Source: cann/ge:docs/zh/user_guides/atc_tools/AIPP/config_file_template.md.
"""

from contextlib import suppress
from functools import partial
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

import attr

from npu_config.catalogue.kinds import Bool, Choice, Int, Kind, Real, Text
from npu_config.core.diagnostics import Diagnostic, Report, Severity, declare
from npu_config.core.message import listed, phrase
from npu_config.core.target import ANY_TARGET, Target
from npu_config.core.versions import Product
from npu_config.sidefiles.format import Format, Parsed, Sample, Table, finish_parse, refuse
from npu_config.sidefiles.schema.kinds import Key, Schema
from npu_config.text import prototext
from npu_config.text.source import (
    ANYWHERE,
    FaultLog,
    Path,
    Places,
    PlaceTable,
    Source,
    StopReading,
)
from npu_config.text.words import near, shown

__all__ = [
    "FIELDS", "FORMAT", "INPUT_FORMATS", "AippOp", "InsertOp", "check", "load", "parse",
    "render", "save",
]  # fmt: skip

Value = Union[bool, int, float, str]

MODES = ("static", "dynamic")
INPUT_FORMATS = ("YUV420SP_U8", "XRGB8888_U8", "RGB888_U8", "YUV400_U8")


class _IntOrZero(Int):
    def parse(self, value: Any) -> int:
        """The number; 0 is legal beside the range."""
        return 0 if type(value) is int and value == 0 else super().parse(value)

    def describe(self) -> str:
        """Legal values."""
        return phrase("{}, or 0", super().describe())


def legal(kind: Kind) -> str:
    """The legal values in words, as protobuf text has them."""
    if isinstance(kind, Choice):
        return listed(kind.values)
    if isinstance(kind, Bool):
        return "true, false"
    return "text in double quotes" if isinstance(kind, Text) else kind.describe()


def accepts(kind: Kind, value: object) -> bool:
    """Whether a model may hold this value."""
    return kind.problem_of(value) is None


def _template() -> Mapping[str, Kind]:
    switch, text, half = Bool(), Text(), Real(-65504, 65504)
    size, pad, byte = Int(0, 4096), Int(0, 32), Int(0, 255)
    fields: Dict[str, Kind] = {
        "aipp_mode": Choice(MODES),
        "related_input_rank": Int(0),
        "related_input_name": text,
        "max_src_image_size": Int(0),
        "support_rotation": switch,
        "input_format": Choice(INPUT_FORMATS),
        "src_image_size_w": _IntOrZero(2, 4096),
        "src_image_size_h": _IntOrZero(1, 4096),
        "cpadding_value": half,
        "crop": switch,
        "load_start_pos_w": Int(0, 4095),
        "load_start_pos_h": Int(0, 4095),
        "crop_size_w": size,
        "crop_size_h": size,
        "resize": switch,
        "resize_output_w": _IntOrZero(16, 1920),
        "resize_output_h": _IntOrZero(16, 4096),
        "padding": switch,
        "left_padding_size": pad,
        "right_padding_size": pad,
        "top_padding_size": pad,
        "bottom_padding_size": pad,
        "padding_value": half,
        "rotation_angle": Int(0, 3),
        "csc_switch": switch,
        "rbuv_swap_switch": switch,
        "ax_swap_switch": switch,
        "single_line_mode": switch,
    }
    for row in range(3):
        for column in range(3):
            fields["matrix_r{}c{}".format(row, column)] = Int(-32677, 32676)
    for side in ("output", "input"):
        for channel in range(3):
            fields["{}_bias_{}".format(side, channel)] = byte
    for name, kind in (("mean_chn", byte), ("min_chn", Real(0, 255)), ("var_reci_chn", half)):
        for channel in range(4):
            fields["{}_{}".format(name, channel)] = kind
    fields["raw_rgbir_to_f16_n"] = Int(0, 31)
    return fields


FIELDS: Mapping[str, Kind] = _template()
RESERVED = frozenset(
    (
        "support_rotation", "cpadding_value", "resize", "resize_output_w", "resize_output_h",
        "rotation_angle", "single_line_mode", "raw_rgbir_to_f16_n",
    )
)  # fmt: skip
"""The fields that are documented as not supported at present."""

_TEMPLATE = "cann/ge:docs/zh/user_guides/atc_tools/AIPP/config_file_template.md"
_OPTION = "cann/ge:docs/zh/user_guides/atc_tools/CLI_options/--insert_op_conf.md"

_rule = partial(declare, options=("insert_op_file",), source=(_TEMPLATE,))


@_rule(
    "NPU760", Severity.ERROR, source=(_OPTION, _TEMPLATE), help="write aipp_op { name: value ... }"
)
def insert_op_syntax() -> None:
    """The AIPP configuration cannot be read.

    The file is protobuf text: blocks `aipp_op { ... }` that contain `field: value` entries, and
    comments that begin with `#`.  The graph engine rejects anything else when it prepares the
    graph.

    Wrong:

    ```
    aipp_op
      aipp_mode = static
    ```

    Right:

    ```
    aipp_op {
      aipp_mode: static
      input_format: RGB888_U8
    }
    ```
    """


@_rule("NPU761", Severity.WARNING, help="use only documented field names, each once in a block")
def insert_op_field() -> None:
    """A field of an `aipp_op` block is not in the documented template, or occurs twice.

    Protobuf text with an unknown field is rejected as a whole. npu_config knows only the fields of
    the vendor's template, so this is only a warning.

    Wrong: `aipp_op { aipp_mode: static input_formt: RGB888_U8 }`

    Right: `aipp_op { aipp_mode: static input_format: RGB888_U8 }`
    """


@_rule("NPU762", Severity.ERROR, help="set a legal value, or remove it")
def insert_op_value() -> None:
    """A field of an `aipp_op` block has a value of the wrong kind or out of its range.

    Wrong: `aipp_op { aipp_mode: static input_format: RGB888 mean_chn_0: 300 }`

    Right: `aipp_op { aipp_mode: static input_format: RGB888_U8 mean_chn_0: 104 }`
    """


@_rule(
    "NPU763",
    Severity.ERROR,
    help="add the missing field, or correct the fields that contradict each other",
)
def insert_op_combination() -> None:
    """The fields of an `aipp_op` block are inconsistent, or a field is missing.

    `aipp_mode` is always required, `input_format` is required for static AIPP, and
    `max_src_image_size` for dynamic AIPP. YUV420SP_U8 needs even image sizes (and even crop
    positions, except on ascend_950).  Cropping and padding need the image size, and the cropped
    area must be inside the image.

    Wrong: `aipp_op { aipp_mode: static }`

    Right: `aipp_op { aipp_mode: static input_format: RGB888_U8 }`
    """


@_rule("NPU769", Severity.WARNING, help="remove the field")
def insert_op_reserved() -> None:
    """A field of an `aipp_op` block is not supported at present.

    According to the template, `support_rotation`, `rotation_angle`, `resize` and its sizes,
    `single_line_mode` and `cpadding_value` are reserved, and `raw_rgbir_to_f16_n` is not
    supported: these fields have no effect.

    Wrong: `aipp_op { aipp_mode: static input_format: RGB888_U8 resize: true }`

    Right: `aipp_op { aipp_mode: static input_format: RGB888_U8 }`, and resize the images before.
    """


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
                    message = "{} is outside a block; write aipp_op {{ ... }} around the fields"
                    log.fault(field.start, field.end, phrase(message, field.name))
                return []
            if field.name != "aipp_op":
                message = "expected a block aipp_op {{ ... }}, but found {}"
                meant = near(field.name, ("aipp_op",))
                message = phrase(message, shown(field.name))
                log.report(log.rule, field.start, field.end, message, meant=meant)
            if isinstance(value, prototext.TextBlock):
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
    log: FaultLog, places: PlaceTable, blocks: List[Fields], given: prototext.TextField
) -> None:
    fields, name = blocks[-1], given.name
    kind = FIELDS.get(name)
    if kind is None:
        meant = near(name, [other for other in FIELDS if other not in fields])
        log.report(insert_op_field, given.start, given.end, unknown(name), meant=meant)
        if meant is not None:
            fields[meant] = None
    elif fields.get(name) is not None or len(given.values) != 1:
        message = phrase("{} appears twice in this block", shown(name))
        log.report(insert_op_field, given.start, given.end, message)
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
            log.report(insert_op_value, written.start, written.end, message, meant=meant)


_READERS: Mapping[type, Callable[[str], Optional[Value]]] = {
    Bool: prototext.boolean,
    Real: prototext.real,
    Choice: str,
}


def _value(kind: Kind, given: Union[prototext.Scalar, prototext.TextBlock]) -> Optional[Value]:
    """The value as the field takes it; None when it is of another kind."""
    if isinstance(given, prototext.TextBlock) or isinstance(given.value, bytes) != isinstance(
        kind, Text
    ):
        return None
    if isinstance(given.value, bytes):
        return given.value.decode("utf-8", "replace")
    return _READERS.get(type(kind), prototext.integer)(given.value)


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
        message = "the fields must be a mapping from field names to values"
        yield insert_op_field.diagnostic(message, severity=Severity.ERROR)
        return
    for name, value in fields.items():
        if name not in FIELDS:
            meant = near(str(name), FIELDS)
            yield insert_op_field.diagnostic(unknown(name), meant=meant, severity=Severity.ERROR)
        elif not accepts(FIELDS[name], value):
            message = phrase("{} is {}; legal: {}", name, shown(value), legal(FIELDS[name]))
            yield insert_op_value.diagnostic(message)
    yield from _combined(fields, (), ANYWHERE)


def _combined(fields: Mapping[str, Any], path: Path, places: Places) -> Iterator[Diagnostic]:
    """What does not go together in one block, whatever the product."""
    block = places.key_place(path)
    mode, image = fields.get("aipp_mode"), fields.get("input_format")
    if "aipp_mode" not in fields:
        message = phrase("aipp_mode is missing; legal: {}", listed(MODES))
        yield insert_op_combination.diagnostic(message, block)
    if mode == "static" and "input_format" not in fields:
        message = phrase("static AIPP requires input_format; legal: {}", listed(INPUT_FORMATS))
        yield insert_op_combination.diagnostic(message, block)
    if mode == "dynamic" and fields.get("max_src_image_size", 0) == 0:
        message = (
            "dynamic AIPP requires max_src_image_size, the size of the largest image in bytes"
        )
        yield insert_op_combination.diagnostic(message, block)
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
            message = phrase("{} is {}; YUV420SP_U8 requires an even number", name, value)
            yield insert_op_combination.diagnostic(message, places.place((*path, name)))


def _geometry(fields: Mapping[str, Any], path: Path, places: Places) -> Iterator[Diagnostic]:
    for side in ("w", "h"):
        size = fields.get("src_image_size_" + side, 0)
        for switch in ("crop", "padding"):
            if fields.get(switch) is True and size == 0:
                message = phrase("{} requires src_image_size_{}", switch, side)
                place = places.key_place((*path, switch))
                yield insert_op_combination.diagnostic(message, place)
        begin = fields.get("load_start_pos_" + side, 0)
        length = fields.get("crop_size_" + side, 0)
        numbers = (size, begin, length)
        if fields.get("crop") is not True or not all(type(number) is int for number in numbers):
            continue
        if size and begin + length > size:
            message = (
                "load_start_pos_{0} + crop_size_{0} is {1}, but src_image_size_{0} is only {2}"
            )
            place = places.place((*path, "crop_size_" + side))
            yield insert_op_combination.diagnostic(
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
                message = phrase("{} is not supported at present and has no effect", name)
                yield insert_op_reserved.diagnostic(message, place)
        if (
            fields.get("input_format") == "YUV420SP_U8"
            and fields.get("crop") is True
            and Product.ASCEND_950 not in target.products
        ):
            yield from _odd(fields, _EVEN_POSITIONS, (index,), places)


def _parse(text: str, path: Optional[str], target: Target) -> Parsed[InsertOp]:
    source = Source(text, path)
    log, places = FaultLog(source, insert_op_syntax), PlaceTable(source.place(0, len(text)))
    blocks: List[Dict[str, Any]] = []
    understood = False
    with suppress(StopReading):
        blocks = read(log, places)
        understood = not log.diagnostics
        log.add_all(_judge(blocks, places, target))
    understood = understood and Report(log.diagnostics).ok
    return finish_parse(
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
    parser=_parse,
    render=render,
    looks_like=_looks_like,
    marks=r"aipp_op",
    names=r"[\w.-]+\.aippconfig",
    schema=Schema({name: Key(kind) for name, kind in FIELDS.items()}),
)
parse, load, save = FORMAT.parse, FORMAT.load, FORMAT.save
