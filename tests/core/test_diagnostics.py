"""Diagnostics, reports and the error that carries them."""

import pytest

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place, Report, Severity

FIRST = Diagnostic.at(Place("a.yaml", 1, 2, 1, 5), "NPU104", "x", Severity.WARNING, "first")
LATER = Diagnostic.at(Place("a.yaml", 3, 1), "NPU101", "y", Severity.ERROR, "later", help="do it")
OTHER = Diagnostic.at(Place("b.yaml", 1, 1), "NPU101", "y", Severity.INFO, "other")


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
        "option", "message", "help", "url",
    ]  # fmt: skip
    assert FIRST.to_dict()["severity"] == "warning"
    assert FIRST.to_dict()["url"].endswith("/rules/NPU104.html")
