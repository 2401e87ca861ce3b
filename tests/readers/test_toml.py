"""The TOML reader agrees with tomllib on values and on what is TOML."""

import sys

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from npu_config.core.settings import UNKNOWN
from npu_config.readers import read
from npu_config.readers._config_file import BROKEN
from npu_config.readers.toml_file import parse

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

KEYS = st.sampled_from(["a", "b", "c", '"q r"', "'s'", "a.b", "a . c", "b.a.a", '"\\u00e9"', "1"])
SCALARS = st.sampled_from(
    [
        "1", "-0", "0x1F", "0o17", "0b11", "1_000", "1.5", "1e5", "inf", "-nan", "true", "false",
        "\"t\"", "'l'", "\"\"", "''", "\"\"\"m\nl\"\"\"", "'''m\nl'''", "\"\"\"x\"\"\"\"\"",
        "''''''", "\"\\u00e9\\n\"", "\"\"\"a\\\n  b\"\"\"", "2024-01-01", "2024-01-01T10:00:00Z",
        "2024-01-01 10:00:00", "10:00:00", "True", "on", "text", "01", "1__0", "\"\\x\"",
        "\"open", "'open", "1 2", "", "# c", "2024-13-01",
    ]
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[ {} ]".format(", ".join(items))),
        st.lists(inner, max_size=3).map(lambda items: "[\n{}\n]".format(",\n".join(items))),
        st.lists(inner, max_size=2).map(lambda items: "[{},]".format(" , # c\n".join(items))),
        st.lists(st.tuples(KEYS, inner), max_size=2).map(
            lambda items: "{{ {} }}".format(", ".join("{} = {}".format(*item) for item in items))
        ),
    ),
    max_leaves=4,
)
STATEMENTS = st.one_of(
    st.tuples(KEYS, VALUES).map(" = ".join),
    KEYS.map("[{}]".format),
    KEYS.map("[[ {} ]] # c".format),
    st.sampled_from(["", "# comment", "   ", "\t", "a", "= 1", "[", "[a", "]", "a = 1 b = 2"]),
)


def expected(text):
    """What tomllib reads, or None when it refuses."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None


def check_against_tomllib(text):
    """Both accept the text and read the same, or neither does."""
    value = expected(text)
    document = parse(text)
    if value is None:
        assert document.diagnostics
    elif not document.diagnostics:
        assert repr(value or None) == repr(document.value)


@given(st.lists(STATEMENTS, max_size=5).map("\n".join))
def test_statements(text):
    """Any sequence of statements, right and wrong."""
    check_against_tomllib(text)


@given(st.lists(st.tuples(KEYS, VALUES).map(" = ".join), max_size=4).map("\n".join))
def test_every_good_text_is_accepted(text):
    """What tomllib reads is never complained about."""
    value = expected(text)
    assume(value is not None)
    assert parse(text).diagnostics == []


@given(st.text(alphabet="ab.=\"'[]{},#\n\\ 1", max_size=40))
def test_characters(text):
    """Any sequence of the characters that mean something."""
    check_against_tomllib(text)


def test_a_fault_hides_no_other():
    """Every line is judged on its own; what can be read is."""
    text = 'hccl_timeout = 1800\nop_wait_timeout = 12O\ndump_path = "/x\nenable_dump = true\n'
    reading = read("x.toml", None, text)
    lines = [d.line for d in reading.diagnostics if d.rule == "NPU702"]
    values = {name: setting.value for name, setting in reading.settings[0].entries.items()}
    assert lines == [2, 3]
    assert values == {"hccl_timeout": 1800, "op_wait_timeout": UNKNOWN, "enable_dump": True}


def test_broken_values_are_marked():
    """A scalar that cannot be read leaves its list readable around it."""
    assert parse("a = [1, x, 3]").value == {"a": [1, BROKEN, 3]}
