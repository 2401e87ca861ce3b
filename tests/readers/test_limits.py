"""What no real file holds is refused, with the limit, in a time that follows its size."""

import sys

import pytest

from npu_config.readers import read


def short(value):
    """The name of a case."""
    return repr(value[:12])


def rules(reading):
    """The ids of the findings."""
    return [diagnostic.rule for diagnostic in reading.diagnostics]


@pytest.mark.parametrize(
    ("kind", "line"), [("yaml", "a: 1\n"), ("toml", "a = 1\n"), ("toml", "a b\n")]
)
def test_a_thousand_faults_end_it(kind, line):
    """Nobody reads more."""
    reading = read("x", kind, line * 100000)
    assert (
        reading.diagnostics[1000].message
        == "after 1,000 findings, the rest of the text is not read"
    )
    assert len(reading.diagnostics) <= 1002
    assert reading.settings[0].open


@pytest.mark.parametrize(("kind", "line"), [("yaml", "k{}: 1\n"), ("toml", "k{} = 1\n")])
def test_five_hundred_options_end_it(kind, line):
    """There are 108."""
    text = "".join(line.format(number) for number in range(3000))
    reading = read("x", kind, text)
    assert rules(reading) == ["NPU703", "NPU790"]
    assert "more than 500 options" in reading.diagnostics[0].message
    assert len(reading.settings[0].entries) == 500
    assert reading.settings[0].open


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("yaml", "dump_step:\n" + "- 1\n" * 30000),
        ("yaml", "dump_step: [" + "1," * 30000 + "]"),
        ("toml", "dump_step = [" + "1," * 30000 + "]"),
    ],
    ids=short,
)
def test_twenty_thousand_values_end_it(kind, text):
    """The option is set, to nobody knows what."""
    reading = read("x", kind, text)
    assert "more than 20,000 values" in reading.diagnostics[0].message
    assert "NPU703" in rules(reading)
    assert not [d for d in reading.judge() if d.rule == "NPU106"]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("yaml", "[" * 100000),
        ("yaml", "- " * 100000),
        ("yaml", "? " * 100000),
        ("yaml", "{a: " * 50000),
        ("toml", "a = " + "[" * 100000),
        ("toml", "a = " + "{a=" * 50000),
        ("toml", "a" + ".a" * 100000 + " = 1"),
        ("toml", "[a" + ".a" * 100000 + "]"),
        ("json", "[" * 100000),
        ("json", '{"dump_step": ' + "[" * 100 + "]" * 100 + "}"),
        ("pbtxt", "graph_options {" * 50000),
    ],
    ids=short,
)
def test_depth_is_limited(kind, text):
    """Nothing recurses without end."""
    reading = read("x", kind, text)
    reading.judge()
    assert [d for d in reading.diagnostics if "nest" in d.message]


@pytest.mark.parametrize(
    "value",
    ["9" * 900000, "1:" * 300000 + "1", "0" * 900000, "0x" + "f" * 900000, "1" * 300000 + ".5"],
    ids=short,
)
def test_numbers_are_limited(value):
    """Python would take a quadratic time to convert them."""
    for text, kind in (("hccl_timeout: " + value, "yaml"), ("hccl_timeout = " + value, "toml")):
        reading = read("x", kind, text)
        reading.judge()
        assert any(d.severity.value == "error" for d in reading.diagnostics)


def test_aliases_as_keys_and_of_scalars():
    """An alias is no key; as a value it means what its anchor means."""
    reading = read("x.yaml", None, "a: &x off\n*x : 1\nprecision_mode: *x\n")
    assert rules(reading)[0] == "NPU705"
    assert reading.diagnostics[0].message == "an alias is used as a key; write the key in full"
    assert 'YAML reads "off" as the boolean False' in reading.diagnostics[1].message


def test_halves_of_surrogates():
    """No text of theirs can be written anywhere."""
    for kind, text in (("yaml", 'dump_path: "\\ud800"'), ("json", '{"dump_path": "\\ud800"}')):
        assert rules(read("x", kind, text))[0] in ("NPU702", "NPU711")
    assert rules(read("x", "toml", 'dump_path = "\\ud800"'))[0] == "NPU702"


def test_without_a_parser_of_toml(monkeypatch):
    """It says what to install."""
    name = "tomllib" if sys.version_info >= (3, 11) else "tomli"
    monkeypatch.setitem(sys.modules, name, None)
    found = read("x.toml", None, "version = 1\n").diagnostics[0]
    assert (found.rule, found.help) == ("NPU702", "pip install tomli")
