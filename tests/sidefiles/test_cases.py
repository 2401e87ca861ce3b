"""Golden side files: ``cases/err/<format>/*`` beside what is found in them, and ``cases/ok/``."""

from pathlib import Path

from npu_config.sidefiles import FORMATS, recognise
from tests import golden

FOLDER = Path(__file__).parent / "cases"


def parsed(path):
    """The input as its format reads it."""
    return FORMATS[path.parent.name].parse(golden.text_of(path), path.name, golden.target_of(path))


@golden.right(FOLDER)
def test_right_files_are_silent(path):
    """A file as documented has no finding, and reads back from its canonical text."""
    found = parsed(path)
    assert list(found.diagnostics) == []
    assert found.model is not None
    again = FORMATS[path.parent.name].parse(FORMATS[path.parent.name].render(found.model))
    assert found.model == again.model


@golden.wrong(FOLDER)
def test_wrong_case(path):
    """A wrong file yields exactly what its ``.out`` file says, each finding with its place."""
    golden.check(path, parsed(path).diagnostics)


@golden.each(golden.inputs(FOLDER, "ok") + golden.inputs(FOLDER, "err"))
def test_every_case_is_recognised(path):
    """The content, or for empty and trivial files the usual name, tells the format."""
    entry = FORMATS[path.parent.name]
    found = recognise(golden.text_of(path), entry.default_name)
    assert found is not None
    assert path.parent.name == found.name


@golden.wrong(FOLDER)
def test_fixes_settle_what_they_claim(path):
    """After ``clean`` nothing that carried a fix is found, and cleaning again changes nothing."""
    entry = FORMATS[path.parent.name]
    text = golden.text_of(path)
    cleaned = entry.clean(text)
    left = entry.parse(cleaned).diagnostics
    assert [d for d in left if d.fix is not None] == []
    assert cleaned == entry.clean(cleaned)
    before = [d.rule for d in entry.parse(text).diagnostics if d.fix is None]
    assert {d.rule for d in left} <= set(before)


def test_every_format_has_cases():
    """No format is without examples and counter-examples."""
    for verdict in ("ok", "err"):
        assert set(FORMATS) == {path.parent.name for path in golden.inputs(FOLDER, verdict)}


def test_documented_mixlist_sample_is_cleaned_exactly():
    """The vendor's sample loses its comments and the blanks before them, nothing else changes."""
    path = FOLDER / "err" / "mixlist" / "documented_sample.json"
    text = golden.text_of(path)
    expected = "\n".join(
        line.split("//")[0].rstrip() if "//" in line else line for line in text.split("\n")
    )
    assert expected == FORMATS["mixlist"].clean(text)


def test_documented_dtypes_sample_is_cleaned_exactly():
    """The vendor's sample loses its comment lines, and nothing else changes."""
    path = FOLDER / "err" / "customize_dtypes" / "documented_sample.cfg"
    rows = [line for line in golden.text_of(path).split("\n") if not line.startswith("#")]
    assert "\n".join(rows) == FORMATS["customize_dtypes"].clean(golden.text_of(path))
