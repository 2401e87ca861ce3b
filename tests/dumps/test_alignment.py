"""Two tensors brought together: which shapes fit, and which elements then stand side by side."""

import pytest
from dumps import dump_writer as w

pytest.importorskip("numpy")

import numpy

from npu_config.dumps import read_dump
from npu_config.dumps.alignment import ShapeMismatchError, _together, aligned, aligned_arrays
from npu_config.dumps.reference import Array, of_tensor

NCHW, NHWC, ND, NC1HWC0, OTHER = 0, 1, 2, 3, 77


def numbered(*shape):
    """Every element another number, none of them 0."""
    return numpy.arange(1, numpy.prod(shape, dtype=int) + 1, dtype="f4").reshape(shape)


def array(values):
    """Of a ``.npy`` file."""
    return Array("a", 0, "float32", values.shape, values)


def tensor(folder, values, format_code=ND, original=()):
    """Of a dump."""
    path = folder / "Add.a{}.1.1.1767323045000000".format(len(list(folder.iterdir())))
    named = {"original": original} if original else {}
    path.write_bytes(w.dump("a", [w.array("output", values, format_code=format_code, **named)]))
    return read_dump(path).outputs[0]


def sides(found):
    """Both sides whole."""
    pairs = list(found.pairs())
    assert all(left.size == right.size for left, right in pairs)
    return [numpy.concatenate([pair[side] for pair in pairs]).tolist() for side in (0, 1)]


SHAPES = [
    # two shapes of files, and whether their elements are in the same order
    ((2, 3), (2, 3), True),
    ((2, 3), (6,), True),
    ((2, 3), (1, 2, 1, 3), True),
    ((2, 4, 4, 8), (2, 128), True),
    ((2, 128), (2, 4, 4, 8), True),
    ((1,), (), True),
    ((2, 3), (3, 2), False),
    ((4, 6), (6, 4), False),
    ((2, 3), (2, 4), False),
    ((2, 3), (3,), False),
    ((4, 3), (2, 3), False),
    ((4,), (4, 2), False),
]


@pytest.mark.parametrize(("one", "other", "fits"), SHAPES)
def test_shapes_of_files(tmp_path, one, other, fits):
    """Axes that are joined, split or of one element fit; so it is with a tensor of a dump."""
    mine, there = numbered(*one), numbered(*other)
    calls = [
        (lambda: aligned_arrays(array(mine), array(there))),
        (lambda: aligned(tensor(tmp_path, mine), array(there))),
    ]
    for call in calls:
        if fits:
            found = call()
            assert (other, "") == (found.shape, found.remark)
            assert sides(found) == [mine.reshape(-1).tolist(), there.reshape(-1).tolist()]
        else:
            with pytest.raises(ShapeMismatchError) as caught:
                call()
            is_batch = len(one) == len(other) > 1 and one[1:] == other[1:]
            assert is_batch is caught.value.is_batch


@pytest.mark.parametrize(
    ("one", "other", "batch"),
    [
        ((2, 3), (4, 3), True),
        ((2, 3, 4), (5, 3, 4), True),
        ((2, 3), (2, 4), False),
        ((2,), (4,), False),
        ((2, 3), (4, 3, 1), False),
    ],
)
def test_another_batch_size(one, other, batch):
    """Shapes of several axes that differ in the first one alone."""
    assert ShapeMismatchError(one, other).is_batch is batch


def test_padding(tmp_path):
    """What is beyond the shape of the reference has to be 0, and then is said."""
    padded = numpy.zeros((3, 4), "f4")
    padded[:2, :3] = numbered(2, 3)
    found = aligned(tensor(tmp_path, padded), array(numbered(2, 3)))
    assert sides(found) == [numbered(2, 3).reshape(-1).tolist()] * 2
    assert ("[3, 4]" in found.remark, found.shape) == (True, (2, 3))
    for place in ((2, 0), (0, 3), (2, 3)):
        changed = padded.copy()
        changed[place] = 1
        with pytest.raises(ShapeMismatchError):
            aligned(tensor(tmp_path, changed), array(numbered(2, 3)))
    with pytest.raises(ShapeMismatchError):
        aligned(tensor(tmp_path, numbered(2, 3)), array(padded))


@pytest.mark.parametrize(
    ("values", "format_code", "original"),
    [
        (numbered(2, 3, 4, 5), NCHW, ()),
        (numbered(2, 3, 4, 5), NCHW, (2, 4, 5, 3)),
        (numbered(2, 3, 4, 5).transpose(0, 2, 3, 1).copy(), NHWC, ()),
    ],
)
def test_layouts(tmp_path, values, format_code, original):
    """A layout of the same letters is turned to the shape of the reference, without a remark."""
    nhwc = numbered(2, 3, 4, 5).transpose(0, 2, 3, 1)
    found = aligned(tensor(tmp_path, values, format_code, original), array(nhwc))
    assert (sides(found), found.shape) == ([nhwc.reshape(-1).tolist()] * 2, (2, 4, 5, 3))
    assert found.remark == ""
    hwcn = numbered(2, 3, 4, 5).transpose(2, 3, 1, 0)
    found = aligned(tensor(tmp_path, values, format_code, original), array(hwcn))
    assert sides(found) == [hwcn.reshape(-1).tolist()] * 2


def test_no_original_shape_of_a_layout_of_the_device(tmp_path):
    """The shape of the reference is the one in the network."""
    device = numpy.zeros((1, 1, 2, 2, 16), "f4")
    device[0, 0, :, :, :3] = numbered(2, 2, 3)
    found = aligned(tensor(tmp_path, device, NC1HWC0), array(numbered(1, 2, 2, 3)))
    assert sides(found) == [numbered(12).tolist()] * 2


def test_two_dumps(tmp_path):
    """Of one layout they are compared as they are stored, of different ones in the network's."""
    device = numpy.zeros((1, 1, 2, 2, 16), "f4")
    device[0, 0, :, :, :3] = numbered(2, 2, 3)
    stored = tensor(tmp_path, device, NC1HWC0, (1, 2, 2, 3))
    plain = tensor(tmp_path, numbered(1, 2, 2, 3), NHWC, (1, 2, 2, 3))
    unknown = tensor(tmp_path, numbered(2, 3), OTHER, (3, 2))
    for one, other, count in (
        (stored, plain, 12),
        (plain, stored, 12),
        (plain, plain, 12),
        (stored, stored, 12),
        (unknown, unknown, 6),
    ):
        found = sides(aligned(one, of_tensor(other)))
        assert found[0] == found[1]
        assert [value for value in found[0] if value] == numbered(count).tolist()


@pytest.mark.parametrize(
    ("left", "right"),
    [([6], [6]), ([1, 2, 3], [3, 2, 1]), ([4, 2], [2, 2, 2]), ([0, 6], [5, 0, 1]), ([], [])],
)
def test_pieces(left, right):
    """Pieces of any lengths become pairs of equal length, each element once."""

    def cut(sizes):
        ends = numpy.cumsum(sizes, dtype=int)
        return lambda: iter(numpy.split(numpy.arange(sum(sizes)), ends)[:-1])

    pairs = list(_together(cut(left), cut(right))())
    assert [one.tolist() for one, _ in pairs] == [other.tolist() for _, other in pairs]
    assert [number for one, _ in pairs for number in one] == list(range(sum(left)))
