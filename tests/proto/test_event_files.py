"""Event files: framing, checksums, messages, tensors; the same as TensorFlow reads."""

import contextlib
import io
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_config.proto.event_files import (
    DTYPES,
    EventFileError,
    EventTensor,
    masked_crc32c,
    parse_event,
    raw_content,
    read_events,
    scalar,
)
from tests import golden
from tests.proto import event_messages as made


def test_the_checksum_is_the_masked_castagnoli_one():
    """The published check value of CRC-32C, and its masked form."""
    crc = 0xE3069283
    masked = ((crc >> 15 | crc << 17 & 0xFFFFFFFF) + 0xA282EAD8) & 0xFFFFFFFF
    assert masked_crc32c(b"123456789") == masked


def test_scalars_of_a_summary_file():
    """Step, tag and number of every event; the version record has no values."""
    data = made.scalars([(1, 8.0), (2, 4.0)])
    events = list(read_events(io.BytesIO(data), verify=True))
    assert [(e.step, [(v.tag, v.number) for v in e.values]) for e in events] == [
        (0, []),
        (1, [("loss_scale", 8.0)]),
        (2, [("loss_scale", 4.0)]),
    ]


def test_a_record_cut_by_the_end_of_the_file_ends_the_reading():
    """A file that is still being written is read up to the last whole record."""
    data = made.scalars([(1, 8.0), (2, 4.0)])
    for cut in (1, 4, 5, 20):
        assert [e.step for e in read_events(io.BytesIO(data[:-cut]))] == [0, 1]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"hello", "too short"),
        (b"global_step = 1, loss = 2\n", "no record at its start"),
        (made.record(b"\x0a\x05ab"), "truncated"),
    ],
)
def test_what_is_no_event_file_is_refused(data, message):
    """Text, short files and records that are no events."""
    with pytest.raises(EventFileError, match=message):
        list(read_events(io.BytesIO(data)))


def test_damage_is_found():
    """A wrong length is always found, wrong content when it is asked for."""
    data = bytearray(made.scalars([(1, 8.0), (2, 4.0)]))
    data[-5] ^= 1
    assert len(list(read_events(io.BytesIO(data)))) == 3
    with pytest.raises(EventFileError, match="is damaged"):
        list(read_events(io.BytesIO(data), verify=True))
    second = len(made.record(b"\x09" + struct.pack("<d", 1.0) + made.field(3, b"brain.Event:2")))
    data[second] ^= 0xFF
    with pytest.raises(EventFileError, match="byte {} is damaged".format(second)):
        list(read_events(io.BytesIO(data)))


def test_a_scalar_tensor_counts_as_a_number():
    """Newer summaries carry scalars as tensors."""
    value = made.field(1, b"loss_scale") + made.field(8, made.tensor(1, (), struct.pack("<f", 2)))
    (found,) = parse_event(made.event(1, [value])).values
    assert scalar(found) == 2.0
    value = made.field(1, b"hist") + made.field(8, made.tensor(1, (2,), struct.pack("<2f", 2, 3)))
    (found,) = parse_event(made.event(1, [value])).values
    assert scalar(found) is None


def test_values_shorter_than_the_shape_repeat_the_last():
    """The short form of a tensor with equal elements."""
    short = EventTensor(3, (2, 2), b"", ((7, made.varint((1 << 64) - 5)),), ())
    assert raw_content(short) == struct.pack("<4i", -5, -5, -5, -5)
    assert raw_content(EventTensor(1, (2,), b"", (), ())) == bytes(8)


@pytest.mark.parametrize(
    "tensor",
    [
        EventTensor(1, (3,), b"abcd", (), ()),
        EventTensor(1, (1,), b"", ((5, b"abcdefgh"),), ()),
        EventTensor(1, (1,), b"", ((5, b"abc"),), ()),
        EventTensor(7, (1,), b"", (), (b"text",)),
        EventTensor(1, None, b"", (), ()),
        EventTensor(1, (1 << 40,), b"", (), ()),
    ],
)
def test_content_that_does_not_fit_is_refused(tensor):
    """Too little, too much, without plain content, or absurdly large."""
    with pytest.raises(EventFileError):
        raw_content(tensor)


@settings(max_examples=golden.tries(100), deadline=None)
@given(st.binary(max_size=200))
def test_arbitrary_bytes_give_events_or_the_error(data):
    """Nothing else is ever raised."""
    for content in (data, made.record(data)):
        with contextlib.suppress(EventFileError):
            for event in read_events(io.BytesIO(content)):
                for value in event.values:
                    scalar(value)


@pytest.mark.tensorflow
def test_tensorflow_writes_what_is_read(tmp_path):
    """Summaries of the FileWriter, against TensorFlow's own reader."""
    tf = pytest.importorskip("tensorflow").compat.v1
    with tf.Graph().as_default():
        writer = tf.summary.FileWriter(str(tmp_path))
        for step in range(5):
            value = tf.Summary.Value(tag="loss_scale", simple_value=2.0**step)
            writer.add_summary(tf.Summary(value=[value]), step)
        writer.close()
    (path,) = [str(path) for path in tmp_path.iterdir()]
    expected = [
        (e.wall_time, e.step, [(v.tag, v.simple_value) for v in e.summary.value])
        for e in tf.train.summary_iterator(path)
    ]
    with open(path, "rb") as stream:
        actual = [
            (e.wall_time, e.step, [(v.tag, v.number) for v in e.values])
            for e in read_events(stream, verify=True)
        ]
    assert expected == actual


@pytest.mark.tensorflow
def test_every_type_has_tensorflows_content():
    """Single values of each data type become the bytes that numpy has for them."""
    tf = pytest.importorskip("tensorflow")
    numpy = pytest.importorskip("numpy")
    for number, dtype in DTYPES.items():
        element = tf.compat.v1.as_dtype(number).as_numpy_dtype
        array = numpy.array([[1, 0, 1], [1, 1, 1]]).astype(element)
        proto = tf.compat.v1.make_tensor_proto(array, dtype=number, shape=[2, 3])
        whole = made.field(1, made.field(8, proto.SerializeToString()))
        (value,) = parse_event(made.field(5, whole)).values
        assert bytes(raw_content(value.tensor)) == array.tobytes(), dtype.name
