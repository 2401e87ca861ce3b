"""The readers take anything: the answer is a reading with diagnostics, never an exception."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_config.readers import KINDS, read
from npu_config.writers import render
from tests.strategies import configs, option_dicts

CONFIGURATIONS = ("yaml", "toml", "json", "pbtxt", "pb")
PIECES = st.sampled_from(
    [
        "version: 1\n", "version = 1\n", "{\"version\": 1", "dump:", "[dump]", "[[dump]]",
        "enable_dump", ": ", " = ", "true", "on", "010", "1.0", "'", "\"", "\"\"\"", "'''", "[",
        "]", "{", "}", ",", "\n", "\r\n", "\t", " ", "  ", "- ", "? ", "&a ", "*a", "<<: ",
        "!!int ", "!x ", "| ", "> ", "---\n", "...\n", "#", "%YAML 1.1\n", "\\", "\\u", "\x00",
        "\x85", "\u2028", "\ufeff", "null", "2024-01-01", "input_shape", "a.b.c", "1:30",
        "target", "product", "NpuOptimizer", "custom_optimizers {",
        "parameter_map { key: \"x\" value { b: true } }",
    ]
)  # fmt: skip


def judged(kind, content):
    """The reading of some content, with the rules applied to it."""
    reading = read("fuzz." + kind, kind, content)
    reading.judge()
    assert reading.kind == kind
    return reading


@pytest.mark.parametrize("kind", CONFIGURATIONS)
def test_bytes(kind):
    """Arbitrary bytes."""

    @given(st.binary(max_size=200))
    def check(content):
        judged(kind, content)

    check()


@pytest.mark.parametrize("kind", CONFIGURATIONS)
def test_pieces(kind):
    """Pieces of the formats in any order."""

    @given(st.lists(PIECES, max_size=25).map("".join))
    def check(text):
        judged(kind, text.encode("utf-8"))

    check()


@pytest.mark.parametrize("kind", CONFIGURATIONS)
def test_damaged_files(kind):
    """Good files with a few bytes replaced, taken out or doubled, and cut anywhere."""

    @given(configs(max_size=5), st.integers(0, 2**32), st.integers(1, 6))
    def check(config, seed, wounds):
        content = render(config, kind)
        data = bytearray(content if isinstance(content, bytes) else content.encode("utf-8"))
        chance = random.Random(seed)
        for _ in range(wounds):
            at = chance.randrange(len(data) + 1)
            action = chance.randrange(4)
            if action == 0:
                data[at : at + 1] = bytes([chance.randrange(256)])
            elif action == 1:
                del data[at : at + chance.randrange(1, 5)]
            elif action == 2:
                data[at:at] = data[max(at - 10, 0) : at]
            else:
                del data[at:]
        judged(kind, bytes(data))

    check()


@given(
    st.recursive(
        st.one_of(
            st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10), st.dates()
        ),
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=6), inner, max_size=4)
        ),
        max_leaves=12,
    ),
    option_dicts(max_size=4),
)
def test_values_of_any_type(value, options):
    """Options that are given values of any type and depth, in YAML as PyYAML writes it."""
    import yaml

    document = {"version": 1, "target": value, "dump": dict.fromkeys(options, value)}
    document.update((name, value) for name in options)
    judged("yaml", yaml.safe_dump(document, allow_unicode=True).encode("utf-8", "replace"))


def test_the_kinds_are_these():
    """A new kind of configuration is added to these tests."""
    assert set(CONFIGURATIONS) <= set(KINDS)
