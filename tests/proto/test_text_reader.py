"""Reading the text form: what is accepted, what it means, and what is said of the rest."""

import pickle
import re

import hypothesis.strategies as st
import pytest
from google.protobuf import text_format
from hypothesis import assume, example, given

from npu_config.proto import parse_text, stub_config_proto, to_bytes, to_text
from npu_config.proto.faults import MAX_CHARACTERS, ProtoSyntaxError
from npu_config.proto.schema import graph_message, session_message
from npu_config.text.prototext import MAX_DEPTH
from npu_config.text.source import MAX_FAULTS
from tests.proto.strategies import messages

AttrValue = session_message("AttrValue")

RICH = """# a comment
allow_soft_placement: true;
graph_options: <
  rewrite_options {
    remapping: OFF, min_graph_nodes: -1 meta_optimizer_timeout_ms: 0x1F
    optimizers: ["a", 'b' "c"] optimizers: "d\\n\\101\\x41\\""
    custom_optimizers [{ name: 'Npu' "Optimizer"  # another
      parameter_map { key: "a" value { i: 1 } }
      parameter_map: [{ key: "b", value: <s: "x" 'y'> }, {key: "c" value {}}, {key: "d"}]
      parameter_map: { value {type: DT_INT32} }
      parameter_map: { key: "f" value {f: -1.5e+3} }
      parameter_map: { key: "l" value { list {
        i: [1, 2,3] f: inf f: nan f:1. f: .5 f: 1e5f f: 3f b: [true,false,t,f,1,0,True] } } }
    }]
  }
  optimizer_options { opt_level: L0 global_jit_level: -1 }
>
device_count { key: "GPU" value: 07 }
gpu_options { per_process_gpu_memory_fraction: 0.5 allow_growth: 1 }
"""
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|#[^\n]*\n|[-+\w.]+|\s+|.')
_EXTRA = [
    *"{}<>[]:;,.10é",  # not "-": a space after it is legal, and protobuf refuses it
    *('"x"', "'y'", '"\\xff"', "{}", "value", "i", "s"),
    *("true", "OFF", "ON", "DT_FLOAT"),
    *("-1", "2", "08", "0x", "0x1F", "-0", "99999999999999999999"),
    *("1.5", "1.5F", "1e", "0.", "1e400", "inf", "-inf", "Infinity", "nan"),
]


def _fault(text, message_class=None):
    with pytest.raises(ProtoSyntaxError) as caught:
        parse_text(text, message_class)
    return caught.value


@given(messages(stub_config_proto()))
def test_printed_text_reads_back(config):
    """Whatever protobuf prints is read as the message that it was printed from."""
    assert config == parse_text(to_text(config))
    assert config == parse_text(text_format.MessageToString(config, as_one_line=True))
    assert config == parse_text(text_format.MessageToString(config, pointy_brackets=True))
    assert config == parse_text(
        text_format.MessageToString(config, use_short_repeated_primitives=True)
    )


@given(messages(graph_message("GraphDef"), depth=4))
def test_printed_graphs_read_back(graph):
    """The reader serves any message, not only ConfigProto."""
    assert graph == parse_text(to_text(graph), graph_message("GraphDef"))


def test_every_way_of_writing():
    """Comments, quotes, concatenation, escapes, lists, both brackets and separators."""
    expected = text_format.Parse(RICH, stub_config_proto()())
    assert to_bytes(expected) == to_bytes(parse_text(RICH))


@st.composite
def _mutations(draw):
    tokens = _TOKENS.findall(RICH)
    for _ in range(draw(st.integers(1, 3))):
        index = draw(st.integers(0, len(tokens) - 1))
        with_extra = draw(st.sampled_from(_EXTRA))
        tokens[index : index + 1] = draw(
            st.sampled_from([[], [tokens[index]] * 2, [with_extra], [with_extra, tokens[index]]])
        )
    return "".join(tokens)


@given(_mutations())
def test_protobufs_own_reader_agrees(text):
    """What protobuf's reader accepts is read to the same message, and nothing else is read."""
    try:
        config = parse_text(text)
    except ProtoSyntaxError:
        config = None
    try:
        expected = text_format.Parse(text, stub_config_proto()())
    except (text_format.ParseError, ValueError):  # old versions let the latter through
        expected = None
    assert (expected is None) == (config is None)
    assert expected is None or to_bytes(expected) == to_bytes(config)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r'"\a\b\f\n\r\t\v\?\'\"\\"', b"\a\b\f\n\r\t\v?'\"\\"),
        (r"'a\"b' " + r'"c\'d"', b"a\"bc'd"),
        (r'"\0\01\001\377"', b"\x00\x01\x01\xff"),
        (r'"\x0\X41\xfff"', b"\x00A\xfff"),
        (r'"\u00e9\U0001F600\ud83d\ude00"', "é😀😀".encode()),
        ('"路径"', "路径".encode()),
        ('""', b""),
        ('"a" # comment\n "b"', b"ab"),
    ],
)
def test_strings(text, content):
    """Escapes mean what they mean in C, and in the text format of any version."""
    assert content == parse_text("s: " + text, AttrValue).s


def test_bytes_that_are_not_utf8():
    """A bytes field takes any byte, also unescaped; a string field takes UTF-8 only."""
    assert parse_text(b's: "\xff"', AttrValue).s == b"\xff"
    fault = _fault(b'placeholder: "\xff"', AttrValue)
    assert (fault.line, fault.column) == (1, 14)
    assert 'takes UTF-8 text in quotes, found the text "\\xff"' in fault.reason


@pytest.mark.parametrize("text", ["inf", "Infinity", "INF", "inff"])
def test_infinity(text):
    """Infinity has several names, in any case."""
    assert float("inf") == parse_text("f: " + text, AttrValue).f
    assert float("-inf") == parse_text("f: - " + text, AttrValue).f


def test_floats_that_are_too_large():
    """A float field turns what does not fit into infinity, as TensorFlow does."""
    assert float("inf") == parse_text("f: 1e40", AttrValue).f
    assert float("-inf") == parse_text("f: -1e40", AttrValue).f


def test_a_later_entry_of_a_map_replaces_the_earlier():
    """The same key twice: the last one counts, nothing of the first remains."""
    text = 'attr { key: "a" value { list { i: 1 } } } attr { key: "a" value { list { i: 2 } } }'
    message = parse_text(text, session_message("NameAttrList"))
    assert list(message.attr["a"].list.i) == [2]


def test_numbers_of_an_open_enum_are_kept():
    """An enum number that has no name is kept, as proto3 does."""
    assert to_text(parse_text("type: 77", AttrValue)) == "type: 77\n"


def test_a_byte_order_mark_is_skipped():
    """Editors on Windows write one."""
    assert parse_text(b"\xef\xbb\xbfallow_soft_placement: true").allow_soft_placement


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ("allow_soft_placement: yes", 1, 23, 'takes true or false, found "yes"'),
        ("allow_soft_placement: 2", 1, 23, 'takes true or false, found "2"'),
        ("\n  allow_soft_placment: true", 2, 3, 'did you mean "allow_soft_placement"?'),
        ("placement_period: 1.5", 1, 19, 'from -2147483648 to 2147483647, found "1.5"'),
        ("placement_period: 99999999999", 1, 19, 'found "99999999999"'),
        ("placement_period: 08", 1, 19, 'found "08"'),
        ('placement_period: "8"', 1, 19, 'found the text "8"'),
        ("placement_period { }", 1, 18, "found a message"),
        ("placement_period: [1]", 1, 1, "takes one value, not a list"),
        ("placement_period: 1 placement_period: 2", 1, 21, '"placement_period" is set twice'),
        ("device_filters: abc", 1, 17, 'takes UTF-8 text in quotes, found "abc"'),
        ("gpu_options: 3", 1, 14, 'takes a message in braces, found "3"'),
        ("gpu_options { } gpu_options { }", 1, 17, '"gpu_options" is set twice'),
        (
            "gpu_options { per_process_gpu_memory_fraction: 1,5 }",
            1,
            50,
            'expected a field name or "}", but found "5"',
        ),
        ("gpu_options { per_process_gpu_memory_fraction: 1x }", 1, 48, "takes a number"),
        (
            "graph_options { optimizer_options { global_jit_level: ON } }",
            1,
            55,
            'takes DEFAULT, OFF, ON_1 or ON_2, found "ON"',
        ),
        ('device_count { key: "a" valu: 3 }', 1, 25, "an entry of a map has no field"),
        ('device_count { key: "a" key: "b" }', 1, 25, '"key" is set twice'),
        ('device_filters: "a\n"', 1, 17, "the string has no closing quote on its line"),
        ('device_filters: "a', 1, 17, "the string has no closing quote on its line"),
        ('device_filters: "a\\', 1, 17, "the string has no closing quote on its line"),
        ('device_filters: "a\\\n"', 1, 17, "the string has no closing quote on its line"),
        ('device_filters: "ab\\q"', 1, 20, 'unknown escape "\\q"'),
        ('device_filters: "\\400"', 1, 18, 'unknown escape "\\400"'),
        ('device_filters: "\\ud800"', 1, 18, 'unknown escape "\\ud800"'),
        ('device_filters: "\\U00110000"', 1, 18, "unknown escape"),
        ('device_filters: "\ud800"', 1, 17, "an unpaired surrogate"),
        ('device_filters: ["a",]', 1, 22, 'expected a value, but found "]"'),
        ('device_filters: ["a" "b"', 1, 25, 'expected "," or "]", but found the end of the text'),
        ('device_filters ["a"]', 1, 17, 'expected ":" or "{" after the field name'),
        ("device_filters", 1, 15, "the end of the text"),
        ("device_filters:", 1, 16, "expected a value, but found the end of the text"),
        ("[some.extension]: 1", 1, 1, "extensions and expanded Any messages are not supported"),
        ("gpu_options {\n  allow_growth: true\n", 3, 1, '"}" is missing for the "{" in line 1'),
        ("gpu_options {\n>", 2, 1, 'expected a field name or "}", but found ">"'),
        ("}", 1, 1, 'expected a field name, but found "}"'),
        ("42: 1", 1, 1, 'expected a field name, but found "42"'),
        ("\x00", 1, 1, 'expected a field name, but found "\\x00"'),
        ("allow_soft_placement: true;;", 1, 28, 'found ";"'),
        ("名: 1", 1, 1, 'expected a field name, but found "名"'),
    ],
)
def test_faults(text, line, column, reason):
    """Every fault stands where it is, says what is legal, and quotes what was found."""
    fault = _fault(text)
    assert (line, column) == (fault.line, fault.column)
    assert reason in fault.reason
    assert (line, column) <= (fault.faults[0].end_line, fault.faults[0].end_column)


def test_all_faults_are_reported():
    """Everything but broken syntax is reported in one go, in order of place."""
    text = """
allow_soft_placement: yes
graph_options {
  rewrite_options {
    remaping: OFF
    memory_optimization: OFF
    custom_optimizers { parameter_map { key: 1 value { i: true s: "x" j: 1 } } }
  }
}
"""
    assert [(fault.line, fault.column) for fault in _fault(text).faults] == [
        (2, 23),
        (5, 5),
        (6, 26),
        (7, 46),
        (7, 59),
        (7, 64),
        (7, 71),
    ]


def test_two_of_a_oneof():
    """Of the fields of a oneof only one can be set."""
    assert (
        _fault("i: 1 s: '2'", AttrValue).reason
        == '"s" and "i" are both set; only one of them is allowed'
    )


def test_a_long_enum_is_not_listed():
    """The 48 names of DataType are not listed in a reason."""
    assert (
        _fault("type: float", AttrValue).reason
        == '"type" takes a name of the enum DataType, found "float"'
    )


def test_the_error_lists_its_faults_and_pickles():
    """str() of the error has a line for each fault."""
    fault = _fault("a: 1\nb: 2")
    assert str(fault).splitlines()[0] == '1:1: ConfigProto has no field "a"'
    assert len(str(fault).splitlines()) == 2
    assert fault.faults == pickle.loads(pickle.dumps(fault)).faults


def test_limits_are_stated():
    """Size, nesting, the length of a number and the count of faults are limited."""
    assert "at most 4,194,304 are read" in _fault(" " * (MAX_CHARACTERS + 1)).reason
    assert "nested more than 100 levels deep" in _fault("a {" * (MAX_DEPTH + 1)).reason
    assert "more than 1,000 characters" in _fault("placement_period: " + "1" * 1001).reason
    assert len(_fault("a: 1 " * (MAX_FAULTS + 9)).faults) == MAX_FAULTS + 1
    assert "at most 10 are read" in _limited("allow_growth: true")


def _limited(text):
    with pytest.raises(ProtoSyntaxError) as caught:
        parse_text(text, limit=10)
    return caught.value.reason


def test_depth_up_to_the_limit_is_read():
    """What is nested as deep as the limit allows is read, in every implementation."""
    inner = "tensor { variant_val { "
    text = inner + "tensors { variant_val { " * (MAX_DEPTH // 2 - 1) + "}" * MAX_DEPTH
    assert parse_text(text, AttrValue).HasField("tensor")


@pytest.mark.parametrize("length", [len(RICH) // 7 * part for part in range(1, 7)])
def test_a_text_cut_in_the_middle(length):
    """A text that was cut is refused where it ends."""
    fault = _fault(RICH[:length])
    assert fault.line == RICH[:length].count("\n") + 1
    assert "the end of the text" in fault.reason or "no closing quote" in fault.reason


@given(st.binary(max_size=80) | st.text(max_size=80))
@example(b"\xff\xfe")
@example("\ud800")
def test_anything_is_a_message_or_a_syntax_error(text):
    """No input raises anything but ProtoSyntaxError, with integers for line and column."""
    try:
        parse_text(text)
    except ProtoSyntaxError as error:
        assert isinstance(error.line, int)
        assert isinstance(error.column, int)
        assert str(error)


@given(_mutations(), st.data())
def test_damaged_text_is_a_message_or_a_syntax_error(text, data):
    """Nor does a damaged text, cut and with characters replaced."""
    cut = data.draw(st.integers(0, len(text)))
    assume(cut)
    where = data.draw(st.integers(0, cut - 1))
    damaged = text[:where] + data.draw(st.characters()) + text[where + 1 : cut]
    try:
        parse_text(damaged)
    except ProtoSyntaxError as error:
        assert error.line >= 1
        assert error.column >= 1


def test_long_input():
    """A string of 100,000 characters, as many escapes, comments or fields are no trouble."""
    count = 100_000
    assert count == len(parse_text('s: "{}"'.format("x" * count), AttrValue).s)
    assert count == len(parse_text('s: "{}"'.format("\\n" * count), AttrValue).s)
    assert parse_text("#\n" * count) == stub_config_proto()()
    assert count // 10 == len(parse_text("device_filters: 'x'\n" * (count // 10)).device_filters)
    assert "no closing quote" in _fault('device_filters: "' + "\\" * count).reason
