"""The table of data types: what it says of each follows from the bits and the names."""

import re

import pytest

pytest.importorskip("numpy")

import numpy

from npu_config.dumps.data_types import BY_NAME, DATA_TYPES, data_type, decode, format_name, table

FLOATS = [name for name, kind in sorted(BY_NAME.items()) if kind.limit is not None]
WORDS = {"FLOAT": 32, "DOUBLE": 64, "BOOL": 8, "RESOURCE": 64}
"""Types whose name has no number of bits."""


def numbers(name):
    """Every number of a float type of at most 16 bits, decoded; of a pair, its real parts."""
    kind = BY_NAME[name]
    table.cache_clear()
    unsigned = "<u{}".format(numpy.dtype(kind.storage).itemsize)
    bits = numpy.arange(1 << min(kind.bits, 16), dtype=unsigned).view(kind.storage)
    with numpy.errstate(invalid="ignore"):
        return decode(bits, kind).real.astype("f8")


@pytest.mark.parametrize("kind", DATA_TYPES.values(), ids=lambda kind: kind.name)
def test_bits(kind):
    """The bits are those of the name and of what is stored; a type without bits has no values."""
    assert kind.bits == kind.needs(8)
    name = kind.name[len("DT_") :]
    said = re.search(r"INT(\d+)|FLOAT(\d+)|(?:COMPLEX|BF)(\d+)", name)
    if said is not None:
        assert int(next(filter(None, said.groups()))) == kind.bits
    elif name in WORDS:
        assert WORDS[name] == kind.bits
    if kind.storage is not None:
        assert numpy.dtype(kind.storage).itemsize * 8 == kind.bits
        values = decode(numpy.zeros(3, kind.storage), kind)
        assert (kind.values, (3,)) == (values.dtype.str, values.shape)
    assert (kind.storage is None) == (kind.values is None)


@pytest.mark.parametrize("name", FLOATS)
def test_limits_of_floats(name):
    """The largest number, the smallest one, and half of the step at 1, which rounding costs."""
    kind = BY_NAME[name]
    if kind.name in ("DT_FLOAT", "DT_DOUBLE", "DT_COMPLEX64"):
        part = numpy.zeros(1, kind.storage).real.dtype.type
        smallest = numpy.nextafter(part(0), part(1))
        assert (numpy.finfo(part).max, smallest) == (kind.limit, kind.smallest)
        assert kind.rounding == 0
        return
    values = numbers(name)
    finite = values[numpy.isfinite(values)]
    assert kind.limit == finite.max()
    assert kind.smallest == finite[finite > 0].min()
    assert kind.rounding == (finite[finite > 1].min() - 1) / 2


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        (
            "DT_FLOAT8_E5M2",
            {0x00: 0, 0x01: 2.0**-16, 0x3C: 1, 0x3D: 1.25, 0xC0: -2, 0x04: 2.0**-14},
        ),
        ("DT_FLOAT8_E4M3FN", {0x01: 2.0**-9, 0x08: 2.0**-6, 0x38: 1, 0x39: 1.125, 0xB8: -1}),
        ("DT_FLOAT8_E8M0", {0x00: 2.0**-127, 0x7F: 1, 0x80: 2, 0xFE: 2.0**127}),
        ("DT_HIFLOAT8", {0x00: 0, 0x01: 2.0**-22, 0x08: 1, 0x09: 1.125, 0x88: -1, 0x07: 2.0**-16}),
        ("DT_BF16", {0x3F80: 1, 0xC000: -2, 0x0001: 2.0**-133}),
        ("DT_COMPLEX32", {0x3C00: 1, 0xC000: -2, 0x0001: 2.0**-24}),
    ],
)
def test_numbers_of_floats(name, codes):
    """Numbers at the ends of each range of exponents."""
    values = numbers(name)
    assert codes == {code: values[code] for code in codes}


@pytest.mark.parametrize("name", [name for name in FLOATS if BY_NAME[name].bits == 8])
def test_floats_of_eight_bits_grow(name):
    """Below the sign bit the numbers grow with their codes, but for HiFloat8's dots."""
    values = numbers(name)[: 256 if name.endswith("E8M0") else 128]
    finite = values[numpy.isfinite(values)]
    assert len(set(finite)) == len(finite)
    if name != "DT_HIFLOAT8":
        assert list(finite) == sorted(finite)
    if not name.endswith("E8M0"):
        mirrored = numbers(name)[128:]
        nonzero = numpy.isfinite(values) & (values != 0)
        assert numpy.array_equal(values[nonzero], -mirrored[nonzero])


def test_what_a_later_release_has():
    """An unknown type or format is named by its number, and nothing of it is decoded."""
    assert list(range(len(DATA_TYPES))) == [DATA_TYPES[code].code for code in DATA_TYPES]
    assert data_type(400) == (400, "DT_400", None, None, None, None, None, 0.0)
    assert data_type(1) is BY_NAME["DT_FLOAT"]
    assert [format_name(code) for code in (0, 2, 29, 49, 50, 254, 255)] == [
        *("NCHW", "ND", "FRACTAL_NZ", "C1HWC0", "FORMAT_50", "FORMAT_254", "MAX")
    ]
    assert format_name(0x1003) == format_name(3) == "NC1HWC0"


@pytest.mark.parametrize(
    ("name", "elements", "expected"),
    [
        ("DT_FLOAT", 3, 12),
        ("DT_INT4", 3, 2),
        ("DT_INT4", 4, 2),
        ("DT_UINT1", 8, 1),
        ("DT_UINT1", 9, 2),
        ("DT_FLOAT6_E3M2", 5, 4),
        ("DT_COMPLEX128", 0, 0),
        ("DT_STRING", 3, None),
    ],
)
def test_bytes_of_elements(name, elements, expected):
    """Elements take whole bytes together, the last one rounded up."""
    assert expected == BY_NAME[name].needs(elements)
