"""Diagnostics, reports and the error that carries them."""

import pytest

from npu_config.core.diagnostics import NpuConfigError, Place, Report, Rule, Severity

X = Rule("NPU104", "x", Severity.WARNING, "The page.")
Y = Rule("NPU101", "y", Severity.ERROR, "The page.")
FIRST = X.diagnostic("first", Place("a.yaml", 1, 2, 1, 5))
LATER = Y.diagnostic("later", Place("a.yaml", 3, 1), help="do it")
OTHER = Y.diagnostic("other", Place("b.yaml", 1, 1), severity=Severity.INFO)


def test_a_report_is_in_order_of_place_and_without_duplicates():
    """Findings stand by file, line and column; the same finding stands once."""
    report = Report([OTHER, LATER, FIRST, LATER])
    assert list(report) == [FIRST, LATER, OTHER]
    assert report.errors == [LATER]
    assert report.warnings == [FIRST]
    assert report.infos == [OTHER]
    assert not report.ok
    assert Report([FIRST]).ok
    assert report[0] == FIRST
    assert len(report) == 3


def test_the_text_of_a_finding():
    """Place, severity, message, rule, help."""
    assert str(LATER) == "a.yaml:3:1: error: later [NPU101 y]\n    help: do it"


def test_the_error_lists_every_finding():
    """The text of NpuConfigError holds them all and counts the errors."""
    text = str(NpuConfigError([LATER, FIRST]))
    assert text.startswith("1 error in the configuration\n")
    assert "first" in text
    assert "later" in text


@pytest.mark.parametrize(
    ("low", "high"), [("info", "warning"), ("warning", "error"), ("info", "error")]
)
def test_severities_are_ordered(low, high):
    """info < warning < error."""
    assert Severity(low) < Severity(high)
    assert Severity(high) >= Severity(low)
    assert not Severity(low) >= Severity(high)


def test_to_dict_has_the_fields_of_the_json_contract():
    """The JSON object has exactly the keys that other programs rely on."""
    assert list(FIRST.to_dict()) == [
        "path", "line", "column", "end_line", "end_column", "rule", "name", "severity",
        "option", "message", "help", "url", "fix", "meant", "consequence", "situation",
    ]  # fmt: skip
    assert FIRST.to_dict()["severity"] == "warning"
    assert FIRST.to_dict()["url"].endswith("/rules/NPU104.html")


def test_the_message_ends_with_the_consequence():
    """What the runtime does is a field; the message ends with it, and can end otherwise."""
    aborts = "the adapter aborts the process"
    found = X.diagnostic('"a" is "b"', meant="c", consequence=aborts)
    assert found.message == '"a" is "b"; the adapter aborts the process'
    assert found.help == 'did you mean "c"?'
    other = found.but("it is ignored", Severity.WARNING)
    assert (
        other.message,
        other.consequence,
    ) == ('"a" is "b"; it is ignored', "it is ignored")
    assert LATER.but("it is ignored", Severity.INFO).message == "later; it is ignored"


def test_the_text_of_a_finding_is_harmless():
    """Python prints it itself, in exceptions and warnings: nothing acts on what a file holds."""
    evil = "\x1b[31m\n::error::a\r\x9b##[error]"
    found = X.diagnostic(evil, Place("::error::" + evil, 1), help=evil)
    for text in (str(found), str(Report([found])), str(NpuConfigError([found]))):
        lines = text.split("\n")[-2:]
        assert [line for line in lines if not line.isprintable()] == []
        assert [line for line in lines if line.lstrip().startswith("::") or "##[" in line] == []
