"""The fields of an ``aipp_op`` block: what each takes, as documented.

Source: cann/ge:docs/zh/user_guides/atc_tools/AIPP/config_file_template.md, the template of the
ATC option insert_op_conf, which the graph engine reads for ``insert_op_file`` as well.
"""

from typing import Any, Dict, Mapping, Union

import attr

from npu_config.catalogue.kinds import Bool, Choice, Int, InvalidValue, Kind, Real, Text
from npu_config.core.message import listed, phrase

Value = Union[bool, int, float, str]

MODES = ("static", "dynamic")
INPUT_FORMATS = ("YUV420SP_U8", "XRGB8888_U8", "RGB888_U8", "YUV400_U8")


@attr.s(frozen=True, slots=True, auto_attribs=True)
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
    try:
        kind.parse(value)
    except InvalidValue:
        return False
    return True


def _fields() -> Mapping[str, Kind]:
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


FIELDS: Mapping[str, Kind] = _fields()
RESERVED = frozenset(
    (
        "support_rotation", "cpadding_value", "resize", "resize_output_w", "resize_output_h",
        "rotation_angle", "single_line_mode", "raw_rgbir_to_f16_n",
    )
)  # fmt: skip
"""The fields that are documented as not supported at present."""
