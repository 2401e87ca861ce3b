"""The stub against TensorFlow's own messages; on 1.15 they are equal, on 2.x a part of them."""

import pytest
from google.protobuf import descriptor_pb2, text_format
from hypothesis import given

from npu_config.proto import (
    config_proto_class,
    encode,
    parse_text,
    stub_config_proto,
    to_bytes,
    to_text,
)
from npu_config.proto.schema import graph_message, is_repeated, session_message
from tests.proto.strategies import messages

tensorflow = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tensorflow

IS_TF1 = tensorflow.__version__.startswith("1.")
only_tf1 = pytest.mark.skipif(not IS_TF1, reason="TensorFlow 2 has changed these messages")
TfConfig = tensorflow.compat.v1.ConfigProto


def _reachable(descriptor, found=None):
    """Every message and enum descriptor that can be reached, by full name."""
    found = {} if found is None else found
    if descriptor.full_name not in found:
        found[descriptor.full_name] = descriptor
        for field in descriptor.fields:
            if field.message_type is not None:
                _reachable(field.message_type, found)
            if field.enum_type is not None:
                found[field.enum_type.full_name] = field.enum_type
        for nested in descriptor.nested_types:
            _reachable(nested, found)
        for enum in descriptor.enum_types:
            found[enum.full_name] = enum
    return found


def _proto(descriptor):
    """The descriptor as a message; without what is nested in it, which is compared by itself."""
    is_enum = hasattr(descriptor, "values_by_name")
    proto = (descriptor_pb2.EnumDescriptorProto if is_enum else descriptor_pb2.DescriptorProto)()
    descriptor.CopyToProto(proto)
    if not is_enum:
        del proto.nested_type[:], proto.enum_type[:]
    return proto


STUB = _reachable(session_message("ConfigProto").DESCRIPTOR)
TF = _reachable(TfConfig.DESCRIPTOR)
STUB_GRAPH = _reachable(graph_message("GraphDef").DESCRIPTOR)
TF_GRAPH = _reachable(tensorflow.compat.v1.GraphDef.DESCRIPTOR)


@only_tf1
def test_every_message_is_declared():
    """The stub declares exactly what can be reached in TensorFlow 1.15."""
    assert sorted(TF) == sorted(STUB)
    assert sorted(TF_GRAPH) == sorted(STUB_GRAPH)


@only_tf1
@pytest.mark.parametrize("name", sorted({**STUB, **STUB_GRAPH}))
def test_descriptors_are_equal(name):
    """Names, numbers, types, labels, oneofs, map entries, options and enum values are equal."""
    ours, theirs = {**STUB, **STUB_GRAPH}[name], {**TF, **TF_GRAPH}[name]
    assert _proto(theirs) == _proto(ours)
    if hasattr(ours, "fields"):
        for field in ours.fields:
            other = theirs.fields_by_name[field.name]
            assert field.json_name == other.json_name
            assert field.default_value == other.default_value
            assert is_repeated(field) == is_repeated(other)


@pytest.mark.parametrize("name", sorted({**STUB, **STUB_GRAPH}))
def test_later_versions_keep_the_numbers(name):
    """Every field and enum value of the stub has the same number and type in this version."""
    ours, theirs = {**STUB, **STUB_GRAPH}[name], {**TF, **TF_GRAPH}[name]
    if hasattr(ours, "values_by_name"):
        for value in ours.values:
            assert value.number == theirs.values_by_name[value.name].number
        return
    for field in ours.fields:
        other = theirs.fields_by_name.get(field.name)
        assert other is not None
        assert (field.number, field.type, is_repeated(field)) == (
            other.number,
            other.type,
            is_repeated(other),
        )
        for kind in ("message_type", "enum_type"):
            mine, other_kind = getattr(field, kind), getattr(other, kind)
            assert (mine and mine.full_name) == (other_kind and other_kind.full_name)


def test_the_graph_of_a_meta_graph_has_its_number():
    """What is read of a MetaGraphDef is where TensorFlow puts it."""
    theirs = tensorflow.compat.v1.MetaGraphDef.DESCRIPTOR.fields_by_name["graph_def"]
    ours = graph_message("MetaGraphDef").DESCRIPTOR.fields_by_name["graph_def"]
    assert (theirs.number, theirs.type) == (ours.number, ours.type)


@given(messages(stub_config_proto()))
def test_stub_to_tensorflow_and_back(config):
    """The same bytes and the same text, whichever of the two made them."""
    data = to_bytes(config)
    theirs = TfConfig.FromString(data)
    assert data == to_bytes(theirs)
    assert config == stub_config_proto().FromString(to_bytes(theirs))
    assert to_text(config) == text_format.MessageToString(theirs, as_utf8=False)


@given(messages(TfConfig))
def test_tensorflow_to_stub_and_back(theirs):
    """Whatever TensorFlow writes goes through the stub; fields that 1.15 lacks survive."""
    config = stub_config_proto().FromString(to_bytes(theirs))
    assert theirs == TfConfig.FromString(to_bytes(config))
    if IS_TF1:
        assert to_bytes(theirs) == to_bytes(config)


@only_tf1
@given(messages(TfConfig))
def test_text_of_tensorflow_is_read_and_written_unchanged(theirs):
    """Any text that TensorFlow 1.15 prints comes out as it went in."""
    text = text_format.MessageToString(theirs)
    assert text == to_text(parse_text(text))


@given(messages(TfConfig))
def test_text_is_read_into_tensorflows_class(theirs):
    """The reader fills TensorFlow's own message as well."""
    assert theirs == parse_text(text_format.MessageToString(theirs), TfConfig)


def test_the_class_is_tensorflows():
    """With TensorFlow installed, its own class is made."""
    assert config_proto_class() is TfConfig
    config, _ = encode({"precision_mode": ("s", "allow_mix_precision")})
    assert type(config) is TfConfig


def test_a_session_takes_the_result():
    """tf.Session accepts the message that encode makes from TensorFlow's own."""
    base = TfConfig(allow_soft_placement=True)
    config, _ = encode({"iterations_per_loop": ("i", 10)}, base)
    with tensorflow.compat.v1.Session(graph=tensorflow.Graph(), config=config) as session:
        assert session is not None
