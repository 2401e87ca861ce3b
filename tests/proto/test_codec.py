"""Options into a ConfigProto and back."""

import sys
import types

import hypothesis.strategies as st
import pytest
from hypothesis import given

from npu_config.core.diagnostics import NOWHERE, Place
from npu_config.core.settings import Setting, SourceKind
from npu_config.proto import (
    Overwritten,
    bytes_of,
    config_proto_class,
    decode,
    encode,
    parse_bytes,
    parse_text,
    stub_config_proto,
    text_of,
    text_positions,
    to_bytes,
    to_text,
)
from npu_config.proto.faults import ProtoSyntaxError
from npu_config.proto.schema import session_message
from tests.proto.strategies import messages

VALUES = {
    "precision_mode": ("s", "allow_mix_precision"),
    "iterations_per_loop": ("i", 10),
    "enable_dump": ("b", False),
    "dump_path": ("s", "/数据/out"),
}
EXPECTED = """allow_soft_placement: true
graph_options {
  optimizer_options {
    global_jit_level: OFF
  }
  rewrite_options {
    memory_optimization: NO_MEM_OPT
    remapping: OFF
    custom_optimizers {
      name: "NpuOptimizer"
      parameter_map {
        key: "dump_path"
        value {
          s: "/\\346\\225\\260\\346\\215\\256/out"
        }
      }
      parameter_map {
        key: "enable_dump"
        value {
          b: false
        }
      }
      parameter_map {
        key: "iterations_per_loop"
        value {
          i: 10
        }
      }
      parameter_map {
        key: "precision_mode"
        value {
          s: "allow_mix_precision"
        }
      }
    }
  }
}
"""


def _config(text=""):
    return parse_text(text)


def _with(options, name="NpuOptimizer"):
    return (
        "graph_options {{ rewrite_options {{ custom_optimizers {{ name: '{}' {} }} }} }}".format(
            name, options
        )
    )


def _encode(values, base=None):
    return encode(values, base, stub_config_proto())


def test_without_a_base():
    """Soft placement on, the three passes off, one entry with the options."""
    config, overwritten = _encode(VALUES)
    assert to_text(config) == EXPECTED
    assert overwritten == ()


@given(messages(stub_config_proto()))
def test_a_base_stays_as_it_is(base):
    """The base is not changed, nor is anything in it that is not the NPU's business."""
    before = to_bytes(base)
    config, _ = _encode(VALUES, base)
    assert before == to_bytes(base)
    assert config is not base
    assert _rest(base) == _rest(config)


def _rest(config):
    """What encode has no business with."""
    rest = type(config)()
    rest.CopyFrom(config)
    rewrite = rest.graph_options.rewrite_options
    for field in ("custom_optimizers", "remapping", "memory_optimization"):
        rewrite.ClearField(field)
    rewrite.SetInParent()
    rest.graph_options.optimizer_options.ClearField("global_jit_level")
    rest.graph_options.optimizer_options.SetInParent()
    return rest


@given(messages(stub_config_proto()))
def test_a_second_time_changes_nothing(base):
    """Encoding is idempotent: no second entry, nothing overwritten."""
    once, _ = _encode(VALUES, base)
    twice, overwritten = _encode(VALUES, once)
    assert to_bytes(once) == to_bytes(twice)
    assert overwritten == ()


def test_soft_placement_is_the_users():
    """A base keeps its allow_soft_placement, whatever it is."""
    assert not _encode(VALUES, _config())[0].allow_soft_placement
    assert _encode(VALUES, _config("allow_soft_placement: true"))[0].allow_soft_placement


def test_an_entry_of_that_name_is_used():
    """Options of the user's that are not given stay; entries of other names stay."""
    base = _config(_with("parameter_map { key: 'job' value { s: 'worker' } }"))
    base.graph_options.rewrite_options.custom_optimizers.add(name="Other")
    config, overwritten = _encode(VALUES, base)
    npu, other = config.graph_options.rewrite_options.custom_optimizers
    assert (npu.name, other.name) == ("NpuOptimizer", "Other")
    assert sorted([*VALUES, "job"]) == sorted(npu.parameter_map)
    assert overwritten == ()


def test_what_is_overwritten_is_reported():
    """A value of the user's that differs is named, with the old and the new one."""
    base = _config(
        """graph_options {
          optimizer_options { global_jit_level: ON_1 }
          rewrite_options {
            remapping: ON memory_optimization: MANUAL
            custom_optimizers {
              name: "NpuOptimizer"
              parameter_map { key: "enable_dump" value { b: false } }
              parameter_map { key: "iterations_per_loop" value { i: 1 } }
              parameter_map { key: "precision_mode" value { b: true } }
              parameter_map { key: "dump_path" value { list { s: "/x" } } }
            }
          }
        }"""
    )
    _, overwritten = _encode(VALUES, base)
    assert (
        Overwritten("graph_options.rewrite_options.remapping", "ON", "OFF"),
        Overwritten("graph_options.rewrite_options.memory_optimization", "MANUAL", "NO_MEM_OPT"),
        Overwritten("graph_options.optimizer_options.global_jit_level", "ON_1", "OFF"),
        Overwritten("precision_mode", True, "allow_mix_precision"),
        Overwritten("iterations_per_loop", 1, 10),
        Overwritten("dump_path", 's: "/x"', "/数据/out"),
    ) == overwritten


def test_true_is_not_one():
    """The same value in another field of AttrValue differs."""
    base = _config(_with("parameter_map { key: 'enable_dump' value { i: 0 } }"))
    _, overwritten = _encode({"enable_dump": ("b", False)}, base)
    assert (Overwritten("enable_dump", 0, False),) == overwritten
    assert overwritten[0].old is not False


def test_numbers_without_a_name():
    """An enum number that this TensorFlow does not know is reported as it is."""
    base = _config("graph_options { rewrite_options { remapping: 99 } }")
    _, overwritten = _encode({}, base)
    assert (Overwritten("graph_options.rewrite_options.remapping", "99", "OFF"),) == overwritten


def test_two_entries():
    """The last of two entries is written to, as it is the one that wins."""
    first = "parameter_map { key: 'a' value { i: 1 } } parameter_map { key: 'b' value { i: 1 } }"
    second = "parameter_map { key: 'b' value { i: 2 } } parameter_map { key: 'c' value { } }"
    base = _config(_with(first))
    base.graph_options.rewrite_options.custom_optimizers.extend(
        _config(_with(second)).graph_options.rewrite_options.custom_optimizers
    )
    config, overwritten = _encode({"a": ("i", 5), "b": ("i", 2), "c": ("i", 3)}, base)
    assert len(config.graph_options.rewrite_options.custom_optimizers) == 2
    assert (Overwritten("a", 1, 5),) == overwritten
    assert {name: setting.value for name, setting in decode(config).entries.items()} == {
        "a": 5,
        "b": 2,
        "c": 3,
    }


@pytest.mark.parametrize("base", ["text", 3, {}, object(), session_message("GPUOptions")()])
def test_a_base_of_another_type(base):
    """Anything but a ConfigProto is a TypeError that says so."""
    with pytest.raises(TypeError, match="base must be a ConfigProto, not "):
        encode({}, base)


def test_bytes_and_text_that_is_not_utf8():
    """Bytes go through as they are; surrogate escapes become the bytes they stand for."""
    config, _ = _encode({"a": ("s", b"\xff"), "b": ("s", "\udcff")})
    assert {name: setting.value for name, setting in decode(config).entries.items()} == {
        "a": "\udcff",
        "b": "\udcff",
    }


def test_decode():
    """Each option with its value and the field that held it, and the session around it."""
    settings = decode(_encode(VALUES)[0], "x.pb")
    place = Place("x.pb")
    assert {
        name: Setting(value, wire, place, place) for name, (wire, value) in VALUES.items()
    } == settings.entries
    assert SourceKind.PROTO is settings.source_kind
    assert not settings.open
    session = settings.session
    assert session.optimizers == ("NpuOptimizer",)
    assert (
        session.remapping,
        session.memory_optimization,
        session.global_jit_level,
    ) == ("OFF", "NO_MEM_OPT", "OFF")
    assert session.allow_soft_placement is True
    assert (place, (place,), {}) == (session.place, session.optimizer_places, session.places)


@pytest.mark.parametrize(
    ("value", "wire", "content"),
    [
        ("i: 1", "i", 1),
        ("b: true", "b", True),
        ("f: 1.5", "f", 1.5),
        ("s: '\\377'", "s", "\udcff"),
        ("type: DT_INT32", "type", 3),
        ("placeholder: 'x'", "placeholder", "x"),
        ("list { i: [1, 2] s: 'x' }", "list", 's: "x" i: 1 i: 2'),
        ("shape { dim { size: 2 } }", "shape", "dim { size: 2 }"),
        ("shape { }", "shape", ""),
        ("", "", None),
    ],
)
def test_every_field_of_a_value(value, wire, content):
    """The wire field is named, also the wrong ones and none; messages become text."""
    settings = decode(_config(_with("parameter_map { key: 'a' value { " + value + " } }")))
    found = settings.entries["a"]
    assert (wire, type(content), content) == (found.wire, type(found.value), found.value)


def test_an_empty_configuration():
    """Nothing set: no options, TensorFlow's defaults around them."""
    settings = decode(_config())
    assert settings.entries == {}
    assert settings.session.optimizers == ()
    assert (
        settings.session.remapping,
        settings.session.memory_optimization,
        settings.session.global_jit_level,
    ) == ("DEFAULT", "DEFAULT_MEM_OPT", "DEFAULT")
    assert settings.place == NOWHERE


def test_other_optimizers_have_no_options():
    """Only the entry with exactly that name is the NPU's."""
    settings = decode(_config(_with("parameter_map { key: 'a' value { i: 1 } }", "Npuoptimizer")))
    assert settings.entries == {}
    assert settings.session.optimizers == ("Npuoptimizer",)


def test_places_of_a_text():
    """With the positions of the text, every setting has its place in the file."""
    text = """graph_options { rewrite_options { remapping: ON
custom_optimizers { name: "NpuOptimizer" parameter_map { key: "a" value { i: 1 } }
  parameter_map { key: "b" value { i: 1 } } }
custom_optimizers { name: "NpuOptimizer"
  parameter_map { key: "a" value { i: 2 } } }
} }"""
    settings = decode(parse_text(text), "x.pbtxt", text_positions(text))

    def on(line, start, end):
        return Place("x.pbtxt", line, start, line, end)

    assert {
        "a": Setting(2, "i", on(5, 39, 40), on(5, 24, 27), on(5, 36, 40)),
        "b": Setting(1, "i", on(3, 39, 40), on(3, 24, 27), on(3, 36, 40)),
    } == settings.entries
    assert settings.session.optimizers == ("NpuOptimizer", "NpuOptimizer")
    assert (Place("x.pbtxt", 2, 27, 2, 41), Place("x.pbtxt", 4, 27, 4, 41)) == (
        settings.session.optimizer_places
    )
    assert {"remapping": Place("x.pbtxt", 1, 46, 1, 48)} == settings.session.places
    assert Place("x.pbtxt", 1, 1) == settings.place


_CHARACTERS = st.characters(blacklist_categories=("Cs",))
_RAW = st.one_of(
    st.tuples(st.just("i"), st.integers(-(2**63), 2**63 - 1)),
    st.tuples(st.just("b"), st.booleans()),
    st.tuples(st.just("s"), st.text(_CHARACTERS)),
)
_NAMES = st.text(_CHARACTERS, max_size=8)


@given(st.dictionaries(_NAMES, _RAW, max_size=8))
def test_round_trip(values):
    """What is encoded is decoded, through bytes and through text."""
    config, _ = _encode(values)
    for again in (config, parse_bytes(to_bytes(config)), parse_text(to_text(config))):
        entries = decode(again).entries
        assert values == {name: (entry.wire, entry.value) for name, entry in entries.items()}
    text = to_text(config)
    assert set(values) == set(decode(parse_text(text), "x", text_positions(text)).entries)


@given(st.dictionaries(st.text(_CHARACTERS, min_size=3, max_size=3), _RAW, max_size=8))
def test_bytes_and_text_are_those_of_protobuf(values):
    """What is written without protobuf is what protobuf writes.

    Its implementations differ in the order of two names of which one begins the other.
    """
    config = stub_config_proto()(allow_soft_placement=True)
    config.graph_options.optimizer_options.global_jit_level = -1
    rewrite = config.graph_options.rewrite_options
    rewrite.memory_optimization, rewrite.remapping = 1, 2
    parameters = rewrite.custom_optimizers.add(name="NpuOptimizer").parameter_map
    for name, (field, value) in values.items():
        setattr(parameters[name], field, value.encode() if field == "s" else value)
    assert to_bytes(config) == bytes_of(values)
    assert to_text(config) == text_of(values)


@given(messages(stub_config_proto()))
def test_any_configuration_can_be_decoded(config):
    """decode takes whatever a ConfigProto can hold."""
    names = [entry.name for entry in config.graph_options.rewrite_options.custom_optimizers]
    assert tuple(names) == decode(config).session.optimizers


@given(st.dictionaries(_NAMES, _RAW, min_size=2, max_size=8), st.randoms(use_true_random=False))
def test_equal_configurations_give_equal_bytes(values, random):
    """The order in which options are set does not show."""
    names = list(values)
    random.shuffle(names)
    config, _ = _encode(values)
    shuffled, _ = _encode({name: values[name] for name in names})
    assert to_bytes(config) == to_bytes(shuffled)
    assert to_text(config) == to_text(shuffled)


def test_fields_of_a_newer_tensorflow_survive():
    """Unknown fields, at the top and in a nested message, are in the bytes that come out."""
    unknown = b"\xba\x3e\x03new"  # field 999, text
    inner = session_message("RewriterConfig")(remapping=2).SerializeToString() + unknown
    options = b"\x52" + bytes((len(inner),)) + inner
    data = b"\x38\x01" + b"\x52" + bytes((len(options),)) + options + unknown
    config = parse_bytes(data)
    assert config.allow_soft_placement
    assert to_bytes(config).count(unknown) == 2
    assert to_bytes(_encode(VALUES, config)[0]).count(unknown) == 2


@given(st.binary(max_size=60))
def test_any_bytes_are_a_message_or_a_syntax_error(data):
    """No bytes raise anything but ProtoSyntaxError."""
    try:
        parse_bytes(data)
    except ProtoSyntaxError as error:
        assert str(error) == "the bytes are not a serialized ConfigProto"
        assert error.line is None


@given(messages(stub_config_proto()), st.data())
def test_damaged_bytes_are_a_message_or_a_syntax_error(config, data):
    """Nor do the bytes of a message that were cut or changed."""
    damaged = bytearray(to_bytes(config))
    for _ in range(data.draw(st.integers(0, 3)) if damaged else 0):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    try:
        parse_bytes(bytes(damaged[: data.draw(st.integers(0, len(damaged)))]))
    except ProtoSyntaxError as error:
        assert error.reason


@pytest.mark.parametrize(
    "data",
    [b"\x0c", b"\x38\x01\x0c", b"\x38", b"\x22\x05a", b"\x22\x01\xff", b"\xff" * 20, b"\x00"],
    ids=["end of group", "end of group later", "cut", "short", "not UTF-8", "varint", "field 0"],
)
def test_bad_bytes(data):
    """What protobuf refuses, or only warns of, is refused on every version."""
    with pytest.raises(ProtoSyntaxError, match="the bytes are not a serialized ConfigProto"):
        parse_bytes(data)


def test_bytes_nested_too_deep():
    """Bytes that are nested thousands of levels deep are refused, not a crash."""
    data = b""
    for _ in range(3000):
        data = b"\x52" + _varint(len(data)) + data  # AttrValue.func ...
        data = b"\x12" + _varint(len(data)) + data  # ... NameAttrList.attr ...
        data = b"\x12" + _varint(len(data)) + data  # ... its value
    with pytest.raises(ProtoSyntaxError):
        parse_bytes(data, session_message("NameAttrList"))


def _varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


@pytest.fixture
def _class_not_cached():
    config_proto_class.cache_clear()
    yield
    config_proto_class.cache_clear()


@pytest.mark.usefixtures("_class_not_cached")
def test_a_broken_tensorflow_counts_as_none(monkeypatch):
    """A TensorFlow that is not one is passed over: the stub is made."""
    monkeypatch.setitem(sys.modules, "tensorflow", types.ModuleType("tensorflow"))
    assert config_proto_class() is stub_config_proto()


@pytest.mark.usefixtures("_class_not_cached")
def test_without_tensorflow_the_stub_is_made(monkeypatch):
    """Where there is no TensorFlow the class is the stub's."""
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    assert config_proto_class() is stub_config_proto()
    assert type(encode({})[0]) is stub_config_proto()
