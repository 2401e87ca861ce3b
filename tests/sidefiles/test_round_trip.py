"""Every model reads back from its text, and no text does harm."""

import copy
import pickle
from pathlib import Path

import attr
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_config.core.diagnostics import Report
from npu_config.core.target import Target
from npu_config.core.versions import Product
from npu_config.sidefiles import FORMATS, recognise
from tests import golden
from tests.sidefiles import sidefile_strategies

formats = pytest.mark.parametrize("name", sorted(FORMATS))
targets = st.builds(
    Target,
    st.none() | st.sampled_from(list(Product)),
    st.sampled_from([None, "training", "online_inference"]),
)
CASES = Path(__file__).parent / "cases"
seeds = [golden.text_of(path) for half in ("ok", "err") for path in golden.inputs(CASES, half)]


@st.composite
def damaged(draw):
    """A case with a piece cut out, doubled or exchanged."""
    text = draw(st.sampled_from(seeds))
    start = draw(st.integers(0, len(text)))
    end = min(len(text), start + draw(st.integers(0, 8)))
    piece = draw(st.sampled_from(["", text[start:end] * 2, '"', "\n", ",", ":", "{", "=", "#"]))
    return text[:start] + piece + text[end:]


@formats
@given(data=st.data())
@settings(max_examples=golden.tries(80))
def test_round_trip(name, data):
    """parse(render(x)) == x, without an error."""
    model = data.draw(sidefile_strategies.models(name))
    parsed = FORMATS[name].parse(FORMATS[name].render(model))
    assert model == parsed.model
    assert FORMATS[name].render(model) == FORMATS[name].render(parsed.model)


@formats
@given(data=st.data())
@settings(max_examples=golden.tries(20))
def test_models_are_values(name, data):
    """Models hash, copy, pickle and compare by content, and cannot be changed."""
    model = data.draw(sidefile_strategies.models(name))
    for same in (copy.copy(model), pickle.loads(pickle.dumps(model))):
        assert model == same
        assert hash(model) == hash(same)
    with pytest.raises(attr.exceptions.FrozenInstanceError):
        setattr(model, attr.fields(type(model))[0].name, None)


@formats
@given(text=st.text() | damaged(), target=targets)
@settings(max_examples=golden.tries(150))
def test_any_text_is_read(name, text, target):
    """No text raises; a finding stands inside the text; the model of a good text renders."""
    parsed = FORMATS[name].parse(text, "some/path", target)
    assert isinstance(parsed.diagnostics, Report)
    lines = text.split("\n")
    for d in parsed.diagnostics:
        assert d.path in ("some/path", None)
        if d.line is not None:
            assert 1 <= d.line <= len(lines)
            assert 1 <= d.column <= len(lines[d.line - 1]) + 1
    if parsed.model is not None:
        assert parsed.model == FORMATS[name].parse(FORMATS[name].render(parsed.model)).model
    elif name != "op_cache":
        assert len(parsed.diagnostics) > 0


@given(text=st.text() | damaged())
@settings(max_examples=golden.tries(150))
def test_any_text_is_recognised_or_not(text):
    """Recognition never raises, nor does cleaning what was recognised."""
    found = recognise(text, "x.json")
    if found is not None:
        found.clean(text)


@formats
@given(data=st.binary() | st.text().map(lambda text: text.encode("utf-16")))
@settings(max_examples=golden.tries(20))
def test_any_bytes_are_loaded(name, data, tmp_path_factory):
    """A file of any bytes is loaded without an exception."""
    path = tmp_path_factory.mktemp("bytes") / "file"
    path.write_bytes(data)
    parsed = FORMATS[name].load(path)
    assert isinstance(parsed.diagnostics, Report)


@formats
def test_large_texts_are_read(name):
    """A long text of anything is read to an end; tests/linear holds how the time grows."""
    for piece in (
        "[",
        "{",
        '"',
        "a",
        " ",
        "\n",
        "x=1\n",
        "A:on\n",
        "aipp_op {",
        "# c\n",
        '\\"',
        "a::InputDtype:float,\n",
        "[x]\n",
        "aipp_op",
        "'",
        "1",
        ",",
        "\x00",
    ):
        FORMATS[name].parse(piece * (100000 // len(piece)))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("op_debug", "op_debug_config=OpType::MatMul\n"),
        ("op_debug", "op_debug_config=::"),
        ("op_debug", "op_debug_list=:\rP"),
        ("op_precision", "[ByOpType]\rConv2D=enable_hi_float_32_execution\n"),
    ],
)
def test_names_that_no_model_takes_are_findings(kind, text):
    """What a model refuses is reported at the file, never raised."""
    parsed = FORMATS[kind].parse(text, "a.cfg")
    assert parsed.model is None
    assert [diagnostic.path for diagnostic in parsed.diagnostics.errors] == ["a.cfg"]
