"""Writing the text form."""

import struct

import google.protobuf
import hypothesis.strategies as st
import pytest
from google.protobuf import text_format
from hypothesis import example, given

from npu_config.proto import parse_text, stub_config_proto, to_text
from npu_config.proto.schema import session_message
from tests.proto.strategies import messages

AttrValue = session_message("AttrValue")
PROTOBUF = tuple(int(part) for part in google.protobuf.__version__.split(".")[:2])


@pytest.mark.skipif(PROTOBUF < (3, 20), reason="prints floats with too few digits")
@given(messages(stub_config_proto()))
def test_protobufs_own_printer_agrees(config):
    """The text is the one that protobuf prints when it is told to escape."""
    assert text_format.MessageToString(config, as_utf8=False) == to_text(config)


@given(st.integers(0, 2**32 - 1))
@example(0x7F7FFFFF)  # the largest float
@example(0x00000001)  # the smallest
@example(0x80000000)  # minus zero
@example(0x7F800000)  # infinity
def test_floats_keep_every_digit(bits):
    """Any float is read back as the same bits; not a number stays that."""
    (number,) = struct.unpack("<f", struct.pack("<I", bits))
    again = parse_text(to_text(AttrValue(f=number)), AttrValue).f
    if number == number:
        assert struct.pack("<f", number) == struct.pack("<f", again)
    else:
        assert again != again


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (AttrValue(f=0.1), "f: 0.1\n"),
        (AttrValue(f=1e10), "f: 10000000000.0\n"),
        (AttrValue(f=float("-inf")), "f: -inf\n"),
        (AttrValue(f=float("nan")), "f: nan\n"),
        (AttrValue(b=False), "b: false\n"),
        (AttrValue(i=-1), "i: -1\n"),
        (AttrValue(type=1), "type: DT_FLOAT\n"),
        (AttrValue(type=77), "type: 77\n"),
        (AttrValue(s="é\t\n\r\"'\\\0".encode()), 's: "\\303\\251\\t\\n\\r\\"\\\'\\\\\\000"\n'),
        (AttrValue(placeholder="é"), 'placeholder: "\\303\\251"\n'),
        (AttrValue(), ""),
        (AttrValue(list={}), "list {\n}\n"),
    ],
)
def test_values(message, text):
    """What each kind of value looks like."""
    assert text == to_text(message)


def test_maps_are_in_order_of_their_keys():
    """The order in which a map was filled does not show; default keys are left out."""
    config = stub_config_proto()(device_count={"b": 1, "": 2, "a": 0})
    assert to_text(config) == (
        "device_count {\n  value: 2\n}\n"
        'device_count {\n  key: "a"\n}\n'
        'device_count {\n  key: "b"\n  value: 1\n}\n'
    )
