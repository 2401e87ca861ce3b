"""Dump files: every vector, what a writer wrote, damage of every kind."""

import json
import re
import struct
from pathlib import Path

import pytest
from dumps import dump_writer as w
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numpy")

import numpy
from dumps.number_arrays import any_numbers

from npu_config import NpuConfigError
from npu_config.dumps import open_dump, read_dump
from npu_config.dumps.data_types import BY_NAME, table
from tests import golden

DATA = Path(__file__).parents[1] / "data/dump"
VECTORS = json.loads((DATA / "dumps/index.json").read_text())
DAMAGED = json.loads((DATA / "damaged/index.json").read_text())


def same(expected, actual):
    """Equal in type, shape and every value; NaN equals NaN."""
    assert expected.dtype == actual.dtype
    numpy.testing.assert_array_equal(expected, actual)


@pytest.mark.parametrize("name", sorted(VECTORS))
def test_vectors(name):
    """Every tensor of every vector has the expected values, whole and in pieces."""
    expected = VECTORS[name]["expect"]
    if name.startswith("Add.corners_nano"):
        with pytest.raises(NpuConfigError, match="Nano"):
            read_dump(DATA / "dumps" / name)
        return
    dump = read_dump(DATA / "dumps" / name)
    for file, side, index, how in expected:
        layout = "device" if how == "as stored" else "original"
        tensor = getattr(dump, side + "s")[index]
        wanted = numpy.load(DATA / "dumps" / file)
        same(wanted, tensor.array(layout))
        for limit in (1, 7, 100, 1 << 20):
            pieces = list(tensor.blocks(layout == "original", limit))
            assert all(piece.size <= limit for piece in pieces)
            flat = numpy.concatenate([numpy.empty(0, wanted.dtype), *pieces])
            same(wanted.reshape(-1), flat)
    if not expected:
        with pytest.raises(NpuConfigError) as caught:
            dump.outputs[0].array()
        assert [found.rule for found in caught.value.diagnostics] == ["NPU317"]
        assert dump.outputs[0].size == len(dump.outputs[0].raw())


@pytest.mark.parametrize("name", sorted(DAMAGED))
def test_damage_is_one_finding(name):
    """A damaged file is answered by one diagnostic that names it."""
    with pytest.raises(NpuConfigError) as caught:
        read_dump(DATA / "damaged" / name)
    (found,) = caught.value.diagnostics
    assert found.path == str(DATA / "damaged" / name)
    assert found.rule in ("NPU313", "NPU314", "NPU315", "NPU316")


def test_address_0_has_no_bytes():
    """A tensor without address is not in the file; the others are read, it says so."""
    dump = read_dump(DATA / "dumps/Add.corners_null_address.1.1.1767323045000005")
    with pytest.raises(NpuConfigError, match="NPU319"):
        dump.inputs[0].array()


def test_header():
    """The header says what the vector's note says."""
    name = "net/npu/dump/20260102030405/0/ge_default_20260102030405_1/1/0/"
    dump = read_dump(DATA / name / "Conv2D.conv1_Conv2D_fused.2.2.1767323045000020")
    assert (
        dump.op_name,
        dump.version,
        dump.dump_time,
    ) == ("conv1/Conv2D_fused", "2.0", 1767323045000020)
    assert dump.original_op == ("conv1/Relu", 0, "DT_FLOAT", "NHWC")
    output = dump.outputs[0]
    assert (
        output.data_type,
        output.format,
        output.shape,
        output.original_shape,
        output.size,
    ) == ("DT_FLOAT16", "NC1HWC0", (2, 2, 4, 4, 16), (2, 4, 4, 24), 2048)
    assert dump.original_op == output.original_op


@pytest.mark.parametrize(("field", "size"), [(5, 16), (8, 16), (5, 0), (7, 16)])
def test_what_lies_behind_the_tensors(tmp_path, field, size):
    """Buffers and workspaces are part of the payload; more than the header states is a finding."""
    extra = w.bytes_field(field, w.number_field(3, size))
    content = w.dump("x", [w.array("output", numpy.ones(3, "f4"))], extra=extra)
    path = tmp_path / "d"
    path.write_bytes(content + bytes(16))
    is_stated = field != 7 and size == 16
    assert [found.rule for found in open_dump(path).diagnostics] == ["NPU315"] * (not is_stated)
    path.write_bytes(content + bytes(16 if is_stated else 0))
    same(numpy.ones(3, "f4"), read_dump(path).outputs[0].array())


@pytest.mark.parametrize("side", ["input", "output"])
@pytest.mark.parametrize(
    ("format_code", "sub_format", "expected"),
    [
        (4, 0, 0),
        (4, 3, 3),
        (4 | 3 << 8, 0, 3),
        (4 | 3 << 8, 2, 2),
        (4 | 0x102 << 8, 0, 0x102),
        (4 | 3 << 8 | 5 << 24, 0, 3),
        (4 | 5 << 24, 0, 0),
    ],
)
def test_what_a_format_packs(tmp_path, format_code, sub_format, expected, side):
    """Its code in 8 bits and the sub format in 16, where that has no field of its own."""
    more = {"format_code": format_code, "sub_format": sub_format}
    path = tmp_path / "d"
    path.write_bytes(w.dump("x", [w.array(side, numpy.ones(3, "f4"), **more)]))
    (tensor,) = getattr(read_dump(path), side + "s")
    assert (tensor.format, tensor.sub_format) == ("FRACTAL_Z", expected)


def test_size_may_exceed_the_shape(tmp_path):
    """Of a tensor that is aligned the first bytes count."""
    values = numpy.arange(6, dtype="f4").reshape(2, 3)
    padded = values.tobytes() + b"\xff" * 40
    path = tmp_path / "d"
    path.write_bytes(w.dump("x", [w.tensor("output", padded, (2, 3), original=(2, 3))]))
    output = read_dump(path).outputs[0]
    same(values, output.array())
    same(values, output.array("original"))
    assert output.size == 64


def test_scalar(tmp_path):
    """A shape without dimensions is a scalar."""
    path = tmp_path / "d"
    path.write_bytes(w.dump("x", [w.tensor("output", struct.pack("<f", 2.5), ())]))
    same(numpy.array(2.5, "f4"), read_dump(path).outputs[0].array())
    same(numpy.array(2.5, "f4"), read_dump(path).outputs[0].array("original"))


def test_whole_tensors_of_a_cut_file(tmp_path):
    """Of a file that is cut the tensors before the cut can be read."""
    first, second = numpy.arange(4, dtype="f4"), numpy.arange(8, dtype="f4")
    content = w.dump("x", [w.array("input", first), w.array("output", second)])
    path = tmp_path / "d"
    path.write_bytes(content[:-4])
    opened = open_dump(path)
    assert [found.rule for found in opened.diagnostics] == ["NPU314"]
    same(first, opened.dump.inputs[0].array())
    with pytest.raises(NpuConfigError, match="NPU314"):
        opened.dump.outputs[0].array()


@pytest.mark.parametrize(
    ("cut", "whole"), [(0, "abc"), (1, "ab"), (16, "ab"), (17, "a"), (32, "a"), (33, "")]
)
def test_where_a_file_is_cut(tmp_path, cut, whole):
    """A tensor that ends just before the cut is whole, one that lacks a byte is not."""
    values = {name: numpy.arange(4, dtype="f4") + number for number, name in enumerate("abc")}
    path = tmp_path / "d"
    content = w.dump("x", [w.array("output", each) for each in values.values()])
    path.write_bytes(content[: len(content) - cut])
    opened = open_dump(path)
    assert [found.rule for found in opened.diagnostics] == (["NPU314"] if cut else [])
    for name, tensor in zip("abc", opened.dump.outputs):
        assert (tensor.offset is not None) is (name in whole)
        if name in whole:
            same(values[name], tensor.array())
            assert tensor.raw() == values[name].tobytes()


def test_bytes_behind_the_last_tensor(tmp_path):
    """They are a finding; what the header names is read, and no value of it."""
    path = tmp_path / "d"
    path.write_bytes(w.dump("x", [w.array("output", numpy.arange(4, dtype="f4"))]) + b"x")
    opened = open_dump(path)
    assert [found.rule for found in opened.diagnostics] == ["NPU315"]
    assert re.findall(r"\d+", opened.diagnostics[0].message) == ["1"]
    assert len(opened.dump.outputs[0].raw()) == 16


@pytest.mark.parametrize(
    ("addresses", "held", "readable"),
    [
        ((0, 0), "ab", "ab"),
        ((9, 0), "a", "a"),
        ((0, 9), "b", "b"),
        ((9, 9), "ab", "ab"),
        ((9, 0), "ab", "ab"),
    ],
)
def test_tensors_that_a_file_does_not_hold(tmp_path, addresses, held, readable):
    """Where the file is as long as the tensors with an address, it holds those."""
    values = {name: numpy.arange(4, dtype="f4") + number for number, name in enumerate("ab")}
    tensors = [w.array("output", each, address=at) for each, at in zip(values.values(), addresses)]
    shorter = [
        (side, header, data if name in held else b"")
        for name, (side, header, data) in zip("ab", tensors)
    ]
    path = tmp_path / "d"
    path.write_bytes(w.dump("x", shorter))
    opened = open_dump(path)
    assert opened.diagnostics == ()
    for name, tensor in zip("ab", opened.dump.outputs):
        assert (tensor.offset is not None) is (name in readable)
        if name in readable:
            same(values[name], tensor.array())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no content;"),
        (b"abcdefg", "7 bytes;"),
        (b"a line of text", "text"),
        (b"line\t1\r\n", "text"),
        (b"\x5a\x5a\x5a\x5a1234", "Nano"),
        (bytes(8), "header has no content"),
        (b"\0\0\0\x80\0\0\0\0", "2,147,483,648 bytes of 8"),
        (b"\xff\xff\xff\x7f\0\0\0\0", "2,147,483,647 bytes, but the file holds only 0"),
        (b"\x03\0\0\0\0\0\0\0ab", "3 bytes, but the file holds only 2"),
    ],
)
def test_how_files_begin(tmp_path, content, words):
    """What the first eight bytes are in place of the length of a header."""
    (tmp_path / "d").write_bytes(content)
    with pytest.raises(NpuConfigError, match=words):
        read_dump(tmp_path / "d")


def test_wrong_files(tmp_path):
    """What is not a dump is named for what it is."""
    values = numpy.arange(4, dtype="f4")
    numpy.save(tmp_path / "a.npy", values)
    good = w.dump("x", [w.array("output", values)])
    length = struct.unpack("<Q", good[:8])[0]
    (tmp_path / "big").write_bytes(struct.pack(">Q", length) + good[8:])
    (tmp_path / "zeros").write_bytes(bytes(64))
    (tmp_path / "short").write_bytes(b"abc")
    expected = {
        "a.npy": ".npy file",
        "big": "big-endian",
        "zeros": "no content",
        "short": "3 bytes",
        "missing": "does not exist",
        ".": "directory",
    }
    for name, words in expected.items():
        with pytest.raises(NpuConfigError, match=words) as caught:
            read_dump(tmp_path / name)
        assert len(caught.value.diagnostics) == 1


@pytest.mark.parametrize("shape", [(1 << 80,), (1 << 63,), (1 << 40, 1 << 40), (0, 1 << 62)])
def test_shapes_beyond_any_memory(tmp_path, shape):
    """A shape of 2^80 is refused, also where another size is 0."""
    content = w.dump("x", [w.tensor("output", bytes(48), shape, original=shape)])
    (tmp_path / "d").write_bytes(content)
    with pytest.raises(NpuConfigError, match=r"NPU31[36]"):
        read_dump(tmp_path / "d").outputs[0].array("original")


SHAPES = st.lists(st.integers(0, 5), max_size=4).map(tuple)
NUMBERS = st.builds(any_numbers, st.sampled_from(sorted(w.CODES)), SHAPES).flatmap(lambda x: x)


@settings(max_examples=golden.tries(60), deadline=None)
@given(
    inputs=st.lists(NUMBERS, max_size=3),
    outputs=st.lists(NUMBERS, max_size=3),
    packed=st.booleans(),
    name=st.text(min_size=1, max_size=20),
)
def test_what_is_written_is_read(tmp_path_factory, inputs, outputs, packed, name):
    """Every type, shape and number of tensors comes back as it was written."""
    tensors = [
        w.array(side, values, packed=packed, address=7)
        for side, group in (("input", inputs), ("output", outputs))
        for values in group
    ]
    path = tmp_path_factory.getbasetemp() / "any_dump"
    text = name.encode("utf-8", "replace").decode()
    path.write_bytes(w.dump(text, tensors))
    dump = read_dump(path)
    assert text == dump.op_name
    assert (len(inputs), len(outputs)) == (len(dump.inputs), len(dump.outputs))
    for group, read in ((inputs, dump.inputs), (outputs, dump.outputs)):
        for values, tensor in zip(group, read):
            actual = tensor.array()
            assert values.shape == actual.shape
            assert values.tobytes() == actual.tobytes()


GOOD = w.dump(
    "net/add",
    [
        w.tensor("input", bytes(48), (3, 4), original=(3, 4), address=9),
        w.tensor("output", bytes(1024), (1, 2, 2, 4, 16), 1, 3, (1, 2, 4, 20), ("net/add", 0, 1)),
    ],
)


@settings(max_examples=golden.tries(300), deadline=None)
@given(data=st.data())
def test_mutated_files_raise_diagnostics_only(tmp_path_factory, data):
    """Whatever happens to a file, reading it raises nothing but diagnostics."""
    content = bytearray(GOOD)
    head = struct.unpack("<Q", GOOD[:8])[0] + 8
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, head - 1))
        content[position] = data.draw(st.integers(0, 255))
    del content[data.draw(st.integers(0, len(content))) :]
    path = tmp_path_factory.getbasetemp() / "any_dump"
    path.write_bytes(content)
    opened = open_dump(path)
    assert len(opened.diagnostics) <= 1
    if opened.dump is None:
        assert len(opened.diagnostics) == 1
        return
    for _, _, tensor in opened.dump.tensors():
        for layout in ("device", "original"):
            try:
                values = tensor.array(layout)
            except NpuConfigError:
                continue
            assert values.nbytes <= 8 * len(content)


def test_a_header_of_many_tensors_is_refused(tmp_path):
    """A header that names a million tensors does not fill the memory."""
    header = b"\x1a\x00" * 1_000_000
    (tmp_path / "d").write_bytes(struct.pack("<Q", len(header)) + header)
    with pytest.raises(NpuConfigError, match="65,536 fields"):
        read_dump(tmp_path / "d")


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((1 << 30, 1 << 30), "needs 4,611,686,018,427,387,904 bytes, the header says 8"),
        ((1 << 30, 1 << 30, 2), "is larger than any memory"),
    ],
)
def test_shapes_beyond_the_file(tmp_path, shape, message):
    """A shape that no memory holds is said to be one; smaller ones are counted."""
    (tmp_path / "d").write_bytes(w.dump("x", [w.tensor("output", bytes(8), shape)]))
    with pytest.raises(NpuConfigError, match=message):
        read_dump(tmp_path / "d")


@pytest.mark.parametrize(("dimensions", "is_read"), [(32, True), (33, False)])
def test_many_dimensions(tmp_path, dimensions, is_read):
    """A shape has at most 32 dimensions, as an array of numpy."""
    tensor = w.tensor("output", bytes(4), (1,) * dimensions)
    (tmp_path / "d").write_bytes(w.dump("x", [tensor]))
    if is_read:
        assert read_dump(tmp_path / "d").outputs[0].shape == (1,) * dimensions
    else:
        with pytest.raises(NpuConfigError, match="more than 32 dimensions"):
            read_dump(tmp_path / "d")


def test_float_tables():
    """The float types of eight bits have their limits, NaN and infinities where they belong."""
    for name, nans, infinities in (
        ("DT_HIFLOAT8", 1, 2),
        ("DT_FLOAT8_E5M2", 6, 2),
        ("DT_FLOAT8_E4M3FN", 2, 0),
        ("DT_FLOAT8_E8M0", 1, 0),
    ):
        values = numpy.array(table(name))
        finite = values[numpy.isfinite(values)]
        assert nans == numpy.isnan(values).sum()
        assert infinities == numpy.isinf(values).sum()
        assert BY_NAME[name].limit == finite.max()
        assert BY_NAME[name].smallest == finite[finite > 0].min()


def test_no_original_shape(tmp_path):
    """Plain layouts have the shape that is stored; what the others had is not known."""
    values = numpy.arange(256, dtype="f4").reshape((1, 1, 16, 16))
    for code, known in ((0, True), (2, True), (29, False)):  # NCHW, ND, FRACTAL_NZ
        tensor = w.tensor("output", values.tobytes(), values.shape, format_code=code)
        (tmp_path / "d").write_bytes(w.dump("x", [tensor]))
        output = read_dump(tmp_path / "d").outputs[0]
        if known:
            same(values, output.array("original"))
        else:
            with pytest.raises(NpuConfigError, match="and an original shape"):
                output.array("original")


def test_whose_word_on_the_layout_counts(tmp_path):
    """What the header says of the network's layout comes before what the graph says."""
    values = numpy.arange(4096, dtype="f4").reshape((1, 1, 16, 16, 16))
    plans = {}
    for origin in (None, ("x", 0, 1)):  # NHWC
        tensor = w.tensor("output", values.tobytes(), values.shape, 1, 3, (1, 16, 16, 16), origin)
        (tmp_path / "d").write_bytes(w.dump("x", [tensor]))
        output = read_dump(tmp_path / "d").outputs[0]
        plans[origin] = [output.steps(layout) for layout in ("NCHW", "NHWC")]
    nchw, nhwc = plans[None]
    assert nchw != nhwc
    assert plans["x", 0, 1] == [nhwc, nhwc]


def test_bfloat16(tmp_path):
    """bfloat16 is the upper half of a float32."""
    values = numpy.array([1.0, -2.5, 3e38, numpy.inf], "f4")
    stored = (values.view("u4") >> 16).astype("u2")
    content = w.dump("x", [w.tensor("output", stored.tobytes(), (4,), code=27)])
    (tmp_path / "d").write_bytes(content)
    expected = (stored.astype("u4") << 16).view("f4")
    same(expected, read_dump(tmp_path / "d").outputs[0].array())


def test_a_text(tmp_path):
    """A file of text is called so, and no length is made of its letters."""
    path = tmp_path / "config.yaml"
    path.write_text("precision_mode: allow_mix_precision\n", encoding="utf-8")
    (found,) = open_dump(path).diagnostics
    assert (found.rule, "this is text" in found.message) == ("NPU313", True)


@pytest.mark.parametrize("side", ["input", "output"])
@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, ((), 0)),
        ({"original": (3, 2)}, ((3, 2), 0)),
        ({"sub_format": 4}, ((), 4)),
        ({"address": 9}, ((), 0)),
        ({"original": (1, 6), "sub_format": 2, "address": 5}, ((1, 6), 2)),
    ],
)
def test_what_a_header_says_of_a_tensor(tmp_path, side, more, expected):
    """Inputs and outputs have the same, under other numbers; an input has no operator."""
    path = tmp_path / "Add.a.1.2.1767323045000000"
    values = numpy.arange(6, dtype="f4").reshape(2, 3)
    path.write_bytes(w.dump("a", [w.array(side, values, **more)]))
    ((found_side, _, tensor),) = read_dump(path).tensors()
    assert (found_side, tensor.original_shape, tensor.sub_format) == (side, *expected)
    assert (tensor.size, tensor.shape, tensor.original_op) == (24, (2, 3), None)
    assert tensor.raw() == values.tobytes()
