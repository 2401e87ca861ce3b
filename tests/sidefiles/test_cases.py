"""The golden cases of ``tests/sidefiles/cases``."""

from pathlib import Path

import pytest

from npu_config.sidefiles import FORMATS, recognise
from tests.sidefiles import sidefile_cases as cases


def case_id(path):
    """The name of a case in the test report."""
    return "{}/{}".format(path.parent.name, path.name)


@pytest.mark.parametrize("path", cases.inputs("ok"), ids=case_id)
def test_right_files_are_silent(path):
    """A file as documented has no finding, and reads back from its canonical text."""
    parsed = cases.parsed(path)
    assert cases.rendered(parsed.diagnostics) == ""
    assert parsed.model is not None
    again = FORMATS[path.parent.name].parse(FORMATS[path.parent.name].render(parsed.model))
    assert parsed.model == again.model


@pytest.mark.parametrize("path", cases.inputs("err"), ids=case_id)
def test_wrong_files_are_told(path):
    """A wrong file yields the recorded findings, each with its exact place."""
    expected = cases.read(Path(str(path) + ".out"))
    assert expected
    assert expected == cases.rendered(cases.parsed(path).diagnostics)


@pytest.mark.parametrize("path", cases.inputs("ok") + cases.inputs("err"), ids=case_id)
def test_every_case_is_recognised(path):
    """The content, or for empty and trivial files the usual name, tells the format."""
    entry = FORMATS[path.parent.name]
    found = recognise(cases.read(path), entry.default_name)
    assert found is not None
    assert path.parent.name == found.name


@pytest.mark.parametrize("path", cases.inputs("err"), ids=case_id)
def test_fixes_settle_what_they_claim(path):
    """After ``clean`` nothing that carried a fix is found, and cleaning again changes nothing."""
    entry = FORMATS[path.parent.name]
    text = cases.read(path)
    cleaned = entry.clean(text)
    left = entry.parse(cleaned).diagnostics
    assert [d for d in left if d.fix is not None] == []
    assert cleaned == entry.clean(cleaned)
    before = [d.rule for d in entry.parse(text).diagnostics if d.fix is None]
    assert {d.rule for d in left} <= set(before)


def test_every_format_has_cases():
    """No format is without examples and counter-examples."""
    for verdict in ("ok", "err"):
        assert set(FORMATS) == {path.parent.name for path in cases.inputs(verdict)}


def test_documented_mixlist_sample_is_cleaned_exactly():
    """The vendor's sample loses its comments, and nothing else changes."""
    path = cases.ROOT / "err" / "mixlist" / "documented_sample.json"
    text = cases.read(path)
    expected = "\n".join(line.split("//")[0] for line in text.split("\n"))
    assert expected == FORMATS["mixlist"].clean(text)


def test_documented_dtypes_sample_is_cleaned_exactly():
    """The vendor's sample loses its comment lines, and nothing else changes."""
    path = cases.ROOT / "err" / "customize_dtypes" / "documented_sample.cfg"
    rows = [line for line in cases.read(path).split("\n") if not line.startswith("#")]
    assert "\n".join(rows) == FORMATS["customize_dtypes"].clean(cases.read(path))
