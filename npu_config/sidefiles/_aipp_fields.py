"""The fields of an ``aipp_op`` block: kinds, ranges and defaults as documented.

Source: cann/ge:docs/zh/user_guides/atc_tools/AIPP/config_file_template.md, the template of the
ATC option insert_op_conf, which the graph engine reads for ``insert_op_file`` as well.
"""

from typing import Dict, Mapping, Optional, Tuple, Union

import attr

from npu_config.core.message import listed, phrase

Value = Union[bool, int, float, str]

MODES = ("static", "dynamic")
INPUT_FORMATS = ("YUV420SP_U8", "XRGB8888_U8", "RGB888_U8", "YUV400_U8")


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Field:
    """One field.

    Args:
        kind: ``"word"``, ``"bool"``, ``"int"``, ``"float"`` or ``"text"``.
        words: the legal words.
        range: the legal numbers; None for no bound.
        or_zero: 0 is legal beside the range.
        reserved: True when it is documented as not supported at present.
    """

    kind: str
    words: Tuple[str, ...] = ()
    range: Tuple[Optional[float], Optional[float]] = (None, None)
    or_zero: bool = False
    reserved: bool = False

    @property
    def legal(self) -> str:
        """The legal values in words."""
        if self.kind == "word":
            return listed(self.words)
        if self.kind == "bool":
            return "true, false"
        if self.kind == "text":
            return "text in double quotes"
        what = "an integer" if self.kind == "int" else "a number"
        low, high = self.range
        if high is None:
            return what if low is None else phrase("{} from {:g}", what, low)
        zero = ", or 0" if self.or_zero else ""
        return phrase("{} from {:g} to {:g}{}", what, low or 0, high, zero)

    def accepts(self, value: object) -> bool:
        """True when a model may hold this value."""
        if self.kind == "word":
            return value in self.words
        if self.kind == "bool":
            return isinstance(value, bool)
        if self.kind == "text":
            return isinstance(value, str)
        if isinstance(value, bool) or not isinstance(value, int if self.kind == "int" else float):
            return False
        low, high = self.range
        if self.or_zero and value == 0:
            return True
        return (low is None or value >= low) and (high is None or value <= high)


def _bool(reserved: bool = False) -> Field:
    return Field("bool", reserved=reserved)


def _int(low: int, high: Optional[int], or_zero: bool = False, reserved: bool = False) -> Field:
    return Field("int", range=(low, high), or_zero=or_zero, reserved=reserved)


def _float(low: float, high: float, reserved: bool = False) -> Field:
    return Field("float", range=(low, high), reserved=reserved)


def _fields() -> Mapping[str, Field]:
    half = 65504
    fields: Dict[str, Field] = {
        "aipp_mode": Field("word", MODES),
        "related_input_rank": _int(0, None),
        "related_input_name": Field("text"),
        "max_src_image_size": _int(0, None),
        "support_rotation": _bool(reserved=True),
        "input_format": Field("word", INPUT_FORMATS),
        "src_image_size_w": _int(2, 4096, or_zero=True),
        "src_image_size_h": _int(1, 4096, or_zero=True),
        "cpadding_value": _float(-half, half, reserved=True),
        "crop": _bool(),
        "load_start_pos_w": _int(0, 4095),
        "load_start_pos_h": _int(0, 4095),
        "crop_size_w": _int(0, 4096),
        "crop_size_h": _int(0, 4096),
        "resize": _bool(reserved=True),
        "resize_output_w": _int(16, 1920, or_zero=True, reserved=True),
        "resize_output_h": _int(16, 4096, or_zero=True, reserved=True),
        "padding": _bool(),
        "left_padding_size": _int(0, 32),
        "right_padding_size": _int(0, 32),
        "top_padding_size": _int(0, 32),
        "bottom_padding_size": _int(0, 32),
        "padding_value": _float(-half, half),
        "rotation_angle": _int(0, 3, reserved=True),
        "csc_switch": _bool(),
        "rbuv_swap_switch": _bool(),
        "ax_swap_switch": _bool(),
        "single_line_mode": _bool(reserved=True),
    }
    for row in range(3):
        for column in range(3):
            fields["matrix_r{}c{}".format(row, column)] = _int(-32677, 32676)
    for side in ("output", "input"):
        for channel in range(3):
            fields["{}_bias_{}".format(side, channel)] = _int(0, 255)
    for channel in range(4):
        fields["mean_chn_{}".format(channel)] = _int(0, 255)
    for channel in range(4):
        fields["min_chn_{}".format(channel)] = _float(0, 255)
    for channel in range(4):
        fields["var_reci_chn_{}".format(channel)] = _float(-half, half)
    fields["raw_rgbir_to_f16_n"] = _int(0, 31, reserved=True)
    return fields


FIELDS: Mapping[str, Field] = _fields()
