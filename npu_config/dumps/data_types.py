"""The data types and formats of a dump: what an element takes, how it becomes a number of numpy's.

What nobody documents (the order of nibbles in DT_INT4, the floats of six and four bits) has
no ``storage``: its values are not decoded.  numpy is imported when values are decoded.

Source: facts dump.yaml, ``data_types``, ``formats`` and ``floats``.
"""

import functools
import math
import struct
from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple

_NAMES = (
    "NCHW NHWC ND NC1HWC0 FRACTAL_Z NC1C0HWPAD NHWC1C0 FSR_NCHW FRACTAL_DECONV C1HWNC0 "
    "FRACTAL_DECONV_TRANSPOSE FRACTAL_DECONV_SP_STRIDE_TRANS NC1HWC0_C04 FRACTAL_Z_C04 CHWN "
    "FRACTAL_DECONV_SP_STRIDE8_TRANS HWCN NC1KHKWHWC0 BN_WEIGHT FILTER_HWCK "
    "HASHTABLE_LOOKUP_LOOKUPS HASHTABLE_LOOKUP_KEYS HASHTABLE_LOOKUP_VALUE "
    "HASHTABLE_LOOKUP_OUTPUT HASHTABLE_LOOKUP_HITS C1HWNCoC0 MD NDHWC FRACTAL_ZZ FRACTAL_NZ "
    "NCDHW DHWCN NDC1HWC0 FRACTAL_Z_3D CN NC DHWNC FRACTAL_Z_3D_TRANSPOSE FRACTAL_ZN_LSTM "
    "FRACTAL_Z_G RESERVED ALL NULL ND_RNN_BIAS FRACTAL_ZN_RNN YUV YUV_A NCL FRACTAL_Z_WINO "
    "C1HWC0"
)
FORMATS: Dict[int, str] = {**dict(enumerate(_NAMES.split())), 255: "MAX"}
PLAIN = ("NCHW", "NHWC", "HWCN", "CHWN", "NCDHW", "NDHWC", "DHWCN", "DHWNC")
"""The formats whose letters are the axes, outermost first."""
PRIMARY = 0xFF
"""The bits of a packed format that hold its code; C0 and the sub format are above them."""


def format_name(code: int) -> str:
    """The name of a format; a code of a later release is named by its number."""
    return FORMATS.get(code & PRIMARY) or "FORMAT_{}".format(code)


class DataType(NamedTuple):
    """One data type.

    Args:
        code: its number in the header.
        name: as in the vendor's files, e.g. ``"DT_FLOAT16"``.
        bits: of one element; None when a tensor's size does not follow from its shape.
        storage: the numpy type in which elements are read, e.g. ``"<u2"``; None when the
            values cannot be decoded.
        values: the numpy type of the decoded values; narrow floats become float32.
        limit: the largest finite number of a float type; at it a value may be saturated.
        smallest: the smallest positive number of a float type.
        rounding: the largest relative error of rounding to it, of floats below 32 bits: what a
            comparison must not blame.
    """

    code: int
    name: str
    bits: Optional[int]
    storage: Optional[str] = None
    values: Optional[str] = None
    limit: Optional[float] = None
    smallest: Optional[float] = None
    rounding: float = 0.0

    def needs(self, elements: int) -> Optional[int]:
        """Bytes that so many elements take; None where that is not known."""
        return None if self.bits is None else (elements * self.bits + 7) // 8


_F32_MAX, _F32_MIN = (2 - 2.0**-23) * 2.0**127, 2.0**-149
_ROWS: Tuple[DataType, ...] = (
    DataType(0, "DT_UNDEFINED", None),
    DataType(1, "DT_FLOAT", 32, "<f4", "<f4", _F32_MAX, _F32_MIN),
    DataType(2, "DT_FLOAT16", 16, "<f2", "<f2", 65504.0, 2.0**-24, 2.0**-11),
    DataType(3, "DT_INT8", 8, "|i1", "|i1"),
    DataType(4, "DT_UINT8", 8, "|u1", "|u1"),
    DataType(5, "DT_INT16", 16, "<i2", "<i2"),
    DataType(6, "DT_UINT16", 16, "<u2", "<u2"),
    DataType(7, "DT_INT32", 32, "<i4", "<i4"),
    DataType(8, "DT_INT64", 64, "<i8", "<i8"),
    DataType(9, "DT_UINT32", 32, "<u4", "<u4"),
    DataType(10, "DT_UINT64", 64, "<u8", "<u8"),
    DataType(11, "DT_BOOL", 8, "|b1", "|b1"),
    DataType(12, "DT_DOUBLE", 64, "<f8", "<f8", (2 - 2.0**-52) * 2.0**1023, 5e-324),
    DataType(13, "DT_STRING", None),
    DataType(14, "DT_DUAL_SUB_INT8", 8),
    DataType(15, "DT_DUAL_SUB_UINT8", 8),
    DataType(16, "DT_COMPLEX64", 64, "<c8", "<c8", _F32_MAX, _F32_MIN),
    DataType(17, "DT_COMPLEX128", 128, "<c16", "<c16"),
    DataType(18, "DT_QINT8", 8, "|i1", "|i1"),
    DataType(19, "DT_QINT16", 16, "<i2", "<i2"),
    DataType(20, "DT_QINT32", 32, "<i4", "<i4"),
    DataType(21, "DT_QUINT8", 8, "|u1", "|u1"),
    DataType(22, "DT_QUINT16", 16, "<u2", "<u2"),
    DataType(23, "DT_RESOURCE", 64, "<i8", "<i8"),
    DataType(24, "DT_STRING_REF", None),
    DataType(25, "DT_DUAL", None),
    DataType(26, "DT_VARIANT", None),
    DataType(27, "DT_BF16", 16, "<u2", "<f4", (2 - 2.0**-7) * 2.0**127, 2.0**-133, 2.0**-8),
    DataType(28, "DT_INT4", 4),
    DataType(29, "DT_UINT1", 1),
    DataType(30, "DT_INT2", 2),
    DataType(31, "DT_UINT2", 2),
    DataType(32, "DT_COMPLEX32", 32, "<u4", "<c8", 65504.0, 2.0**-24, 2.0**-11),
    DataType(33, "DT_HIFLOAT8", 8, "|u1", "<f4", 32768.0, 2.0**-22, 2.0**-4),
    DataType(34, "DT_FLOAT8_E5M2", 8, "|u1", "<f4", 57344.0, 2.0**-16, 2.0**-3),
    DataType(35, "DT_FLOAT8_E4M3FN", 8, "|u1", "<f4", 448.0, 2.0**-9, 2.0**-4),
    DataType(36, "DT_FLOAT8_E8M0", 8, "|u1", "<f4", 2.0**127, 2.0**-127, 2.0**-1),
    DataType(37, "DT_FLOAT6_E3M2", 6),
    DataType(38, "DT_FLOAT6_E2M3", 6),
    DataType(39, "DT_FLOAT4_E2M1", 4),
    DataType(40, "DT_FLOAT4_E1M2", 4),
    DataType(41, "DT_HIFLOAT4", 4),
)
DATA_TYPES: Dict[int, DataType] = {row.code: row for row in _ROWS}
BY_NAME: Dict[str, DataType] = {row.name: row for row in _ROWS}


def data_type(code: int) -> DataType:
    """The type of a code; a code of a later release is named by its number."""
    return DATA_TYPES.get(code) or DataType(code, "DT_{}".format(code), None)


def decode(elements: Any, kind: DataType) -> Any:
    """Elements as they are stored, as numbers; a view where nothing is to be done.

    Args:
        elements: a numpy array of ``kind.storage``.
        kind: its data type.
    """
    if kind.storage == kind.values:
        return elements
    import numpy

    if kind.name == "DT_BF16":
        return (elements.astype("<u4") << 16).view("<f4")
    if kind.name == "DT_COMPLEX32":
        halves = numpy.ascontiguousarray(elements).view("<f2").astype("<f4")
        return halves.view("<c8").reshape(elements.shape)
    return numpy.asarray(table(kind.name), "<f4")[elements]


@functools.lru_cache(maxsize=None)
def table(name: str) -> Tuple[float, ...]:
    """The 256 numbers of a float type of eight bits.

    Args:
        name: ``"DT_HIFLOAT8"``, ``"DT_FLOAT8_E5M2"``, ``"DT_FLOAT8_E4M3FN"`` or
            ``"DT_FLOAT8_E8M0"``.
    """
    number = _FLOATS[name]
    return tuple(number(code) for code in range(256))


_NAN, _INFINITY = float("nan"), float("inf")


def _e5m2(code: int) -> float:
    """The upper byte of a float16."""
    return float(struct.unpack("<e", bytes((0, code)))[0])


def _e4m3fn(code: int) -> float:
    exponent, fraction = code >> 3 & 15, (code & 7) / 8.0
    if code & 127 == 127:
        return _NAN
    return _sign(code) * math.ldexp(fraction + (exponent > 0), max(exponent, 1) - 7)


def _e8m0(code: int) -> float:
    return _NAN if code == 255 else 2.0 ** (code - 127)


_HIFLOAT_DOTS = (("11", 4, 1), ("10", 3, 2), ("01", 2, 3), ("001", 1, 3), ("0001", 0, 3))
"""The dot field of HiFloat8, with the bits of exponent and mantissa that follow it."""


def _hifloat8(code: int) -> float:
    if code in (0x00, 0x80):
        return 0.0 if code == 0 else _NAN
    if code & 0x7F == 0x6F:
        return _sign(code) * _INFINITY
    bits = "{:07b}".format(code & 0x7F)
    for dot, width, fraction_bits in _HIFLOAT_DOTS:
        if bits.startswith(dot):
            rest = bits[len(dot) :]
            fraction = int(rest[width:], 2) / 2.0**fraction_bits
            return _sign(code) * (1.0 + fraction) * 2.0 ** _hidden_exponent(rest[:width])
    return _sign(code) * 2.0 ** (int(bits[4:], 2) - 23)


def _hidden_exponent(bits: str) -> int:
    """Sign and magnitude; the leading 1 of the magnitude is not written."""
    if not bits:
        return 0
    magnitude = int("1" + bits[1:], 2)
    return -magnitude if bits[0] == "1" else magnitude


def _sign(code: int) -> float:
    return -1.0 if code & 0x80 else 1.0


_FLOATS: Dict[str, Callable[[int], float]] = {
    "DT_HIFLOAT8": _hifloat8,
    "DT_FLOAT8_E5M2": _e5m2,
    "DT_FLOAT8_E4M3FN": _e4m3fn,
    "DT_FLOAT8_E8M0": _e8m0,
}
