"""The keys at the top of a text, without a parser."""

import json
import time

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from npu_config.readers import is_ours
from npu_config.readers.evidence import KINDS, outline, signs

NAMES = st.from_regex(r"[a-z][a-z_]{3,20}", fullmatch=True).filter(
    lambda name: yaml.safe_load(name) == name
)
VALUES = st.one_of(st.integers(), st.booleans(), st.text("ab: #'\"{}[],\\", max_size=9))
DOCUMENTS = st.dictionaries(
    NAMES, VALUES | st.dictionaries(NAMES, VALUES, min_size=1, max_size=4), min_size=1, max_size=6
)


def shape(document):
    """The two levels of keys of a document."""
    return [
        (key, list(value) if isinstance(value, dict) else []) for key, value in document.items()
    ]


def seen(text, kind):
    """What the outline has of them."""
    return [(key.name, list(key.inner or ())) for key in outline(text, kind)]


@given(DOCUMENTS, st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from([None, 1, 4]))
def test_json(document, end, indent):
    """As the parser has them, however it is laid out."""
    text = "\ufeff" + json.dumps(document, indent=indent).replace("\n", end)
    assert shape(document) == seen(text, "json") == seen(text, "yaml")


def test_a_tab_indents_nothing():
    """A configuration that YAML refuses for its tabs is seen all the same."""
    text = "version: 1\n\tprecision_mode: force_fp16\n"
    assert seen(text, "yaml") == [("version", []), ("precision_mode", [])]
    assert is_ours("npu.yaml", text.encode())


@given(DOCUMENTS, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_yaml(document, end, explicit):
    """As the parser has them, in blocks."""
    text = yaml.safe_dump(document, explicit_start=explicit, sort_keys=False, width=1000)
    assert shape(document) == seen("\ufeff# c: d\n" + text.replace("\n", end), "yaml")


def test_toml():
    """Values at the top, tables, dotted names, texts over lines, tables of one line."""
    text = (
        'a = 1\nb = """\nx = 1\n"""\n[c]\nd.e = 1\n[f.g]\nh = 2\n[[i]]\nj = 1\n'
        "# k = 1\nl = {m = 1}\n"
    )
    assert seen(text, "toml") == [
        ("a", []),
        ("b", []),
        ("c", ["d"]),
        ("f", ["g"]),
        ("i", ["j", "l"]),
    ]


@given(st.text() | st.text("{}[]:=,\"'\\/*\n ab#-&!"), st.sampled_from(KINDS))
def test_any_text(text, kind):
    """Nothing raises."""
    assert signs(text, kind, "a." + kind) is not None


@given(st.binary(), st.sampled_from([".yaml", ".json", ".toml", ".cfg", ".ini", ".txt", ".pb"]))
def test_any_bytes(data, suffix):
    """Nothing raises, and there is a reason."""
    assert is_ours("a" + suffix, data).reason


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "part", ['"\\', "{", "&a", "/*", "'''", '"""', "a: &", "a:\n", "[", "a.", "'", "a: {", "x_y: "]
)
def test_time_is_bounded(kind, part):
    """Only the beginning of a text is looked at: ten times as much takes no longer."""
    times = []
    for size in (200_000, 2_000_000):
        text = part * (size // len(part))
        start = time.perf_counter()
        signs(text, kind, "a." + kind)
        times.append(time.perf_counter() - start)
    assert times[1] < 5 * times[0] + 0.5
