"""Where a pbtxt has its options: the places that diagnostics stand at."""

import subprocess
import sys
import textwrap

import pytest
from hypothesis import given

from npu_config.core.diagnostics import Place
from npu_config.proto import (
    parse_text,
    stub_config_proto,
    text_positions,
    to_text,
)
from npu_config.proto.faults import ProtoSyntaxError
from tests.proto.strategies import messages

TEXT = """# comment: name: "not this"
allow_soft_placement: true
graph_options {
  rewrite_options {
    remapping: OFF; memory_optimization: NO_MEM_OPT
    custom_optimizers {
      name: "Npu" 'Optimizer'
      parameter_map { key: "a" value { i: 1 } }
      parameter_map <
        key: 'b',
        value: < s: "x }"  # }
          "y" >
      >
    }
    custom_optimizers: [{ parameter_map: [{ key: "c" value { b: true } }, { key: "d" }] }, {}]
  }
  optimizer_options: { global_jit_level: OFF }
}
"""


def _cut(text, place):
    """The characters that a place stands for."""
    lines = text.split("\n")
    if place.line == place.end_line:
        return lines[place.line - 1][place.column - 1 : place.end_column - 1]
    first, last = lines[place.line - 1], lines[place.end_line - 1]
    between = lines[place.line : place.end_line - 1]
    return "\n".join([first[place.column - 1 :], *between, last[: place.end_column - 1]])


def _options(text):
    return [
        [
            (name, _cut(text, places.key), _cut(text, places.value))
            for name, places in optimizer.options
        ]
        for optimizer in text_positions(text).optimizers
    ]


def test_options():
    """Each key and each value, in every way of writing them."""
    assert _options(TEXT) == [
        [("a", '"a"', "1"), ("b", "'b'", '"x }"  # }\n          "y"')],
        [("c", '"c"', "true"), ("d", '"d"', '"d"')],
        [],
    ]


def test_optimizers():
    """An optimizer stands at its name; without one, at the word custom_optimizers."""
    places = [optimizer.place for optimizer in text_positions(TEXT).optimizers]
    assert [_cut(TEXT, place) for place in places] == [
        "\"Npu\" 'Optimizer'",
        "custom_optimizers",
        "custom_optimizers",
    ]
    assert Place(None, 7, 13, 7, 30) == places[0]


def test_session_fields():
    """The switches around the options have places of their own."""
    positions = text_positions(TEXT)
    assert {name: _cut(TEXT, place) for name, place in positions.fields.items()} == {
        "allow_soft_placement": "true",
        "remapping": "OFF",
        "memory_optimization": "NO_MEM_OPT",
        "global_jit_level": "OFF",
    }
    assert Place(None, 1, 1) == positions.place


@pytest.mark.parametrize(
    ("value", "key_text", "value_text"),
    [
        ('key: "a" value { }', '"a"', "{ }"),
        ('key: "a" value { list { i: 1 } }', '"a"', "{ list { i: 1 } }"),
        ('key: "a" value { list { } }', '"a"', "{ list { } }"),
        ('key: "a" value { i: 1 s: "2" }', '"a"', '{ i: 1 s: "2" }'),
        ('key: "a" value: 3', '"a"', "3"),
        ("value { i: 1 }", "parameter_map", "1"),
        ("", "parameter_map", "parameter_map"),
    ],
)
def test_what_is_missing_has_the_place_around_it(value, key_text, value_text):
    """A missing key, value or content is at what encloses it."""
    text = "graph_options{rewrite_options{custom_optimizers{parameter_map{" + value + "}}}}"
    ((_, found_key, found_value),) = _options(text)[0]
    assert (key_text, value_text) == (found_key, found_value)


def test_a_key_that_is_written_twice():
    """All places are kept, the last one counts."""
    text = """graph_options { rewrite_options { custom_optimizers {
parameter_map { key: "a" value { i: 1 } }
parameter_map { key: "a" value { i: 2 } } } } }"""
    (optimizer,) = text_positions(text).optimizers
    assert [name for name, _ in optimizer.options] == ["a", "a"]
    assert optimizer.by_name["a"].value.line == 3


def test_columns_count_characters():
    """Not bytes: what stands before may be Chinese, or not even UTF-8."""
    text = "/*".replace("/*", "") + 'device_filters: "路径\udcff" allow_soft_placement: true'
    place = text_positions(text.encode("utf-8", "surrogateescape")).fields["allow_soft_placement"]
    assert Place(None, 1, 45, 1, 49) == place


def test_messages_do_not_matter():
    """Places are found in texts whose fields are wrong, too."""
    text = "nonsense { } allow_soft_placement: maybe"
    assert _cut(text, text_positions(text).fields["allow_soft_placement"]) == "maybe"


def test_broken_text():
    """What is not text format has no places."""
    with pytest.raises(ProtoSyntaxError):
        text_positions("graph_options {")


@given(messages(stub_config_proto()))
def test_every_option_has_a_place(config):
    """Each parameter of each optimizer is found, at the token that says its name."""
    text = to_text(config)
    optimizers = parse_text(text).graph_options.rewrite_options.custom_optimizers
    positions = text_positions(text)
    assert [set(entry.parameter_map) for entry in optimizers] == [
        {name for name, _ in optimizer.options} for optimizer in positions.optimizers
    ]
    for optimizer in positions.optimizers:
        for _, places in optimizer.options:
            assert _cut(text, places.key).startswith(('"', "parameter_map"))


def test_the_names_of_the_package_stay_functions():
    """No module of the package has the name of one of its functions, and so takes its place."""
    code = """
        import npu_config.proto as proto
        import npu_config.proto.places, npu_config.proto.messages
        print([name for name in proto.__all__ if not callable(getattr(proto, name))])
        """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert output.strip() == "[]"
