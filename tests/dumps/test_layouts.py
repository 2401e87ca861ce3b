"""Layouts: from the network to the device by index formulas, and back by the reader."""

import itertools
import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytest.importorskip("numpy")

import numpy

from npu_config import NpuConfigError
from npu_config.dumps import to_original_layout
from npu_config.dumps.layouts import LayoutError, blocks, plan
from tests import golden

SIDE = st.integers(1, 5)
CHANNELS = st.integers(1, 40)
C0 = st.sampled_from([4, 8, 16, 32])


def numbered(shape):
    """Every element another number, none of them 0."""
    size = int(numpy.prod(shape))
    return numpy.arange(1, size + 1).reshape(shape)


def permuted(values, letters, layout):
    """An array with axes ``letters`` in the order of ``layout``."""
    return values.transpose([letters.index(letter) for letter in layout])


def to_5hd(values, c0):
    """NCHW to NC1HWC0, by the place of each element."""
    n, c, h, w = values.shape
    device = numpy.zeros((n, -(-c // c0), h, w, c0), values.dtype)
    i, j, k, m = numpy.indices((n, c, h, w))
    device[i, j // c0, k, m, j % c0] = values
    return device


def to_fractal_z(values, c0):
    """NCHW to FRACTAL_Z, by the place of each element."""
    n, c, h, w = values.shape
    c1, n1 = -(-c // c0), -(-n // 16)
    device = numpy.zeros((c1, h, w, n1, 16, c0), values.dtype)
    i, j, k, m = numpy.indices((n, c, h, w))
    device[j // c0, k, m, i // 16, i % 16, j % c0] = values
    return device.reshape(c1 * h * w, n1, 16, c0)


def to_nz(values, w0):
    """A batch of matrices to FRACTAL_NZ."""
    shape = values.shape if values.ndim > 1 else (1, *values.shape)
    lead, (h, w) = shape[:-2], shape[-2:]
    flat = values.reshape((-1, h, w))
    device = numpy.zeros((len(flat), -(-w // w0), -(-h // 16), 16, w0), values.dtype)
    b, i, j = numpy.indices(flat.shape)
    device[b, j // w0, i // 16, i % 16, j % w0] = flat
    return device.reshape((*lead, *device.shape[1:]))


def to_zz(values, c0):
    """A matrix to FRACTAL_ZZ."""
    h, w = values.shape
    device = numpy.zeros((-(-h // c0), -(-w // c0), c0, c0), values.dtype)
    i, j = numpy.indices((h, w))
    device[i // c0, j // c0, i % c0, j % c0] = values
    return device


def to_grouped(values, c0, groups):
    """HWCN to FRACTAL_Z of groups, by the rule of the facts."""
    h, w, cin, n = values.shape
    cout = n // groups

    def lcm(a, b):
        return a * b // math.gcd(a, b)

    e = min(lcm(lcm(cin, c0) // cin, lcm(cout, 16) // cout), groups)
    c1, g1, n1 = -(-e * cin // c0), -(-groups // e), -(-e * cout // 16)
    device = numpy.zeros((g1, c1, h, w, n1 * 16, c0), values.dtype)
    i, j, c, g, k = numpy.indices((h, w, cin, groups, cout))
    row = (g % e) * cin + c
    number = values[i, j, c, g * cout + k]
    device[g // e, row // c0, i, j, (g % e) * cout + k, row % c0] = number
    return device.reshape(g1 * c1 * h * w, n1, 16, c0)


def check(expected, device, format, layout=None, groups=1):
    """The device array gives the expected one, whole and in pieces (small ones of one)."""
    actual = to_original_layout(device, format, expected.shape, layout, groups)
    numpy.testing.assert_array_equal(expected, actual)
    steps = plan(format, device.shape, expected.shape, layout, groups)
    for limit in {max(least, expected.size // 500) for least in (1, 10, 333)}:
        pieces = list(blocks(device, steps, limit))
        numpy.testing.assert_array_equal(expected.reshape(-1), numpy.concatenate(pieces))


@settings(max_examples=golden.tries(60), deadline=None)
@given(n=SIDE, c=CHANNELS, h=SIDE, w=SIDE, c0=C0, layout=st.sampled_from(["NCHW", "NHWC", "HWCN"]))
def test_nc1hwc0(n, c, h, w, c0, layout):
    """NC1HWC0 comes back in every layout, for every C0."""
    values = numbered((n, c, h, w))
    check(permuted(values, "NCHW", layout), to_5hd(values, c0), "NC1HWC0", layout)


@settings(max_examples=golden.tries(60), deadline=None)
@given(n=CHANNELS, c=CHANNELS, h=SIDE, w=SIDE, c0=C0, layout=st.sampled_from(["NCHW", "HWCN"]))
def test_fractal_z(n, c, h, w, c0, layout):
    """FRACTAL_Z comes back, with N and C padded."""
    values = numbered((n, c, h, w))
    check(permuted(values, "NCHW", layout), to_fractal_z(values, c0), "FRACTAL_Z", layout)


@settings(max_examples=golden.tries(60), deadline=None)
@given(shape=st.lists(st.integers(1, 35), min_size=1, max_size=4), w0=st.sampled_from([8, 16, 32]))
def test_fractal_nz(shape, w0):
    """FRACTAL_NZ comes back, of vectors, matrices and batches."""
    shape = [min(size, 4) for size in shape[:-2]] + shape[-2:]
    values = numbered(shape)
    check(values, to_nz(values, w0), "FRACTAL_NZ")


@settings(max_examples=golden.tries(30), deadline=None)
@given(h=st.integers(1, 40), w=st.integers(1, 40))
def test_fractal_zz(h, w):
    """FRACTAL_ZZ comes back."""
    values = numbered((h, w))
    check(values, to_zz(values, 16), "FRACTAL_ZZ")


@settings(max_examples=golden.tries(40), deadline=None)
@given(h=SIDE, w=SIDE, cin=st.integers(1, 6), cout=st.integers(1, 6), groups=st.integers(2, 9))
@example(h=1, w=1, cin=4, cout=4, groups=9)  # four groups in one block, by either
@example(h=1, w=1, cin=8, cout=4, groups=9)
@example(h=1, w=1, cin=4, cout=8, groups=9)
@example(h=1, w=1, cin=16, cout=16, groups=2)
@example(h=1, w=1, cin=3, cout=5, groups=9)
@example(h=1, w=1, cin=1, cout=7, groups=7)
@example(h=1, w=1, cin=7, cout=1, groups=7)
@example(h=1, w=1, cin=1, cout=17, groups=2)
def test_grouped_fractal_z(h, w, cin, cout, groups):
    """A filter of groups comes back."""
    values = numbered((h, w, cin, cout * groups))
    check(values, to_grouped(values, 16, groups), "FRACTAL_Z", "HWCN", groups)


@settings(max_examples=golden.tries(30), deadline=None)
@given(n=SIDE, d=SIDE, c=CHANNELS, h=SIDE, w=SIDE)
def test_three_dimensions(n, d, c, h, w):
    """NDC1HWC0 is NC1HWC0 with a depth before the channels."""
    values = numbered((n * d, c, h, w))
    device = to_5hd(values, 16).reshape(n, d, -1, h, w, 16)
    expected = values.reshape(n, d, c, h, w).transpose(0, 1, 3, 4, 2)
    check(expected, device, "NDC1HWC0", "NDHWC")


@settings(max_examples=golden.tries(30), deadline=None)
@given(n=CHANNELS, d=SIDE, c=CHANNELS, h=SIDE, w=SIDE)
def test_filters_of_three_dimensions(n, d, c, h, w):
    """FRACTAL_Z_3D is FRACTAL_Z with a depth outside."""
    values = numbered((n, c, d, h, w))
    parts = [to_fractal_z(values[:, :, index], 16) for index in range(d)]
    check(values, numpy.concatenate(parts), "FRACTAL_Z_3D", "NCDHW")


@pytest.mark.parametrize(
    ("one", "other"), list(itertools.permutations(["NCHW", "NHWC", "HWCN", "CHWN"], 2))
)
def test_plain_layouts(one, other):
    """Layouts without blocks are transposed by their letters."""
    values = numbered((2, 3, 4, 5))
    device = permuted(values, "NCHW", one)
    check(permuted(values, "NCHW", other), device, one, other)


def test_vector_of_channels():
    """A bias in NC1HWC0 comes back as a vector."""
    values = numbered((1, 20, 1, 1))
    check(values.reshape(20), to_5hd(values, 16), "NC1HWC0")


@pytest.mark.parametrize(
    ("format", "shape", "original"),
    [
        ("NC1HWC0_C04", (1, 1, 2, 2, 4), (1, 2, 2, 3)),
        ("FRACTAL_ZN_LSTM", (2, 2, 16, 16), (20, 20)),
        ("NC1HWC0", (2, 2, 3, 4, 16), (2, 9, 9, 20)),
        ("NC1HWC0", (2, 2, 3, 4), (2, 3, 4, 20)),
        ("FRACTAL_NZ", (2, 2, 16, 16), (99, 99)),
        ("FRACTAL_NZ", (2, 2), (32, 32)),
        ("FRACTAL_Z", (7, 1, 16, 16), (3, 3, 4, 5)),
        ("ND", (2, 3), (7,)),
        ("FORMAT_77", (2, 3), (3, 2)),
    ],
)
def test_what_cannot_be_converted(format, shape, original):
    """Layouts that are not documented, and shapes that contradict theirs, are refused."""
    with pytest.raises(NpuConfigError, match="NPU318"):
        to_original_layout(numpy.zeros(shape), format, original)


@pytest.mark.parametrize(
    ("format", "shape", "original", "named", "layout", "order", "merged"),
    [
        # (what the device has) -> the layout, how axes are turned, how many become one
        ("ND", (2, 3), (2, 3), None, "ND", (0, 1), (1, 1)),
        ("ND", (2, 3), (6,), None, "ND", (0,), (1,)),
        ("NC", (2, 3), (2, 3), None, "NC", (0, 1), (1, 1)),
        ("FORMAT_77", (2, 3), (2, 3), None, "ND", (0, 1), (1, 1)),
        ("NCHW", (2, 3, 4, 5), (2, 3, 4, 5), None, "NCHW", (0, 1, 2, 3), (1, 1, 1, 1)),
        ("NCHW", (2, 3, 4, 5), (2, 4, 5, 3), None, "NHWC", (0, 2, 3, 1), (1, 1, 1, 1)),
        ("NCHW", (2, 3, 4, 5), (2, 4, 5, 3), "NCHW", "NHWC", (0, 2, 3, 1), (1, 1, 1, 1)),
        ("NCHW", (4, 4, 4, 4), (4, 4, 4, 4), "NHWC", "NHWC", (0, 2, 3, 1), (1, 1, 1, 1)),
        ("NCHW", (2, 3, 4, 5), (2, 60), None, "ND", (0, 1), (1, 1)),
        ("NC1HWC0", (1, 2, 1, 1, 16), (20,), None, "ND", (0, 2, 3, 1, 4), (5,)),
        ("NC1HWC0", (2, 1, 4, 4, 16), (2, 4, 4, 4), None, "NHWC", (0, 2, 3, 1, 4), (1, 1, 1, 2)),
        ("NC1HWC0", (2, 1, 4, 4, 16), (2, 4, 4, 4), "NCHW", "NCHW", (0, 1, 4, 2, 3),
         (1, 2, 1, 1)),
        ("NC1HWC0", (2, 1, 3, 4, 16), (2, 3, 4, 5), "NCHW", "NHWC", (0, 2, 3, 1, 4),
         (1, 1, 1, 2)),
        ("NDC1HWC0", (1, 1, 2, 1, 1, 16), (20,), None, "ND", (0, 1, 3, 4, 2, 5), (6,)),
        ("FRACTAL_Z", (9, 1, 16, 16), (3, 3, 5, 7), None, "HWCN", (1, 2, 0, 5, 3, 4),
         (1, 1, 2, 2)),
        ("FRACTAL_Z", (1, 1, 16, 16), (7,), None, "ND", (3, 4, 1, 2, 0, 5), (6,)),
        ("FRACTAL_NZ", (3, 1, 2, 16, 16), (3, 20, 10), None, "ND", (0, 2, 3, 1, 4), (1, 2, 2)),
        ("FRACTAL_NZ", (1, 1, 16, 16), (10,), None, "ND", (0, 2, 3, 1, 4), (1, 2, 2)),
    ],
)  # fmt: skip
def test_plans(format, shape, original, named, layout, order, merged):
    """The layout that is named counts where it fits, else the likely one of TensorFlow."""
    found = plan(format, shape, original, named)
    assert (layout, order, merged, 1) == (found.layout, found.order, found.merged, found.groups)
    assert found.is_plain is (order == tuple(range(len(order))) and found.split == original)


@pytest.mark.parametrize(
    ("format", "shape", "original", "groups"),
    [
        ("FRACTAL_NZ", (1, 1, 16, 16), (), 1),
        ("FRACTAL_NZ", (1, 16, 16), (10,), 1),
        ("FRACTAL_NZ", (3, 1, 2, 16, 16), (2, 20, 10), 1),
        ("FRACTAL_NZ", (1, 1, 16, 16), (17, 10), 1),
        ("FRACTAL_Z", (1, 1, 16, 16), (1, 1, 4, 6), 4),
        ("FRACTAL_Z", (1, 1, 8, 16), (1, 1, 4, 8), 2),
        ("FRACTAL_Z", (2, 1, 16, 16), (1, 1, 4, 8), 2),
        ("FRACTAL_Z", (1, 2, 16, 16), (1, 1, 4, 8), 2),
        ("FRACTAL_Z", (1, 1, 16, 16), (1, 1, 0, 8), 2),
        ("FRACTAL_Z", (1, 1, 16, 16), (1, 1, 4, 0), 2),
        ("FRACTAL_Z", (1, 1, 16, 0), (1, 1, 4, 8), 2),
        ("FRACTAL_Z", (1, 16, 16), (1, 1, 4, 8), 2),
        ("FRACTAL_Z", (1, 1, 16, 16), (1, 4, 8), 2),
    ],
)
def test_shapes_that_contradict_each_other(format, shape, original, groups):
    """One axis too many or too few, too long, of a size that groups do not divide, or empty."""
    with pytest.raises(LayoutError):
        plan(format, shape, original, None, groups)


def test_groups_in_any_layout():
    """The original shape may be in NCHW or NHWC as well."""
    values = numbered((2, 3, 4, 10))
    device = to_grouped(values, 16, 5)
    for layout in ("NCHW", "NHWC"):
        check(permuted(values, "HWCN", layout), device, "FRACTAL_Z", layout, 5)
