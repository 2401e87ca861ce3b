"""Ignore comments."""

import sys

import pytest

from npu_config.core.diagnostics import Diagnostic, Severity
from npu_config.judging.comments import Suppressions

KNOWN = (("NPU101", "unknown-option"), ("NPU104", "value-not-allowed"), ("NPU301", "both-dumps"))


def finding(line, rule="NPU104", end_line=None):
    """A finding on some lines."""
    name = dict(KNOWN).get(rule, "other")
    return Diagnostic(rule, name, Severity.ERROR, "x", line=line, column=1, end_line=end_line)


def left(text, *findings, known=(), is_script=True):
    """What is left, as lines and rules."""
    return [(f.line, f.rule) for f in Suppressions(text, "x.py", is_script).apply(findings, known)]


@pytest.mark.parametrize(
    ("comment", "silenced"),
    [
        ("# npu: ignore", True),
        ("#npu:ignore", True),
        ("# npu: ignore[NPU104]", True),
        ("# npu: ignore[npu104]", True),
        ("# npu: ignore[NPU1]", True),
        ("# npu: ignore[NPU]", True),
        ("# npu: ignore[value-not-allowed]", True),
        ("# npu: ignore[ NPU301 , NPU104 ]", True),
        ("# reason  # npu: ignore[NPU104]", True),
        ("# npu: ignore[NPU104]  because", True),
        ("# npu: ignore  because of NPU104", True),
        ("# npu: ignore NPU104", False),
        ("# npu: ignore: NPU104", False),
        ("# npu: ignore=[NPU104]", False),
        ("# npu: ignore[NPU104", False),
        ("# npu: ignore[]", False),
        ("# npu: ignore[NPU301]", False),
        ("# npu: ignored", False),
        ("# npu: ignore-line", False),
        ("# NPU: ignore", False),
        ("# npu ignore", False),
        ('"# npu: ignore"', False),
    ],
)
def test_line(comment, silenced):
    """A comment silences the rules that it names on its line, and on no other."""
    text = "a = 1\nb = 2  {}\nc = 3\n".format(comment)
    expected = [(1, "NPU104")] + ([] if silenced else [(2, "NPU104")]) + [(3, "NPU104")]
    assert left(text, finding(1), finding(2), finding(3)) == expected


STATEMENT = """\
f({}
  a,{}
  b,
){}
g(a)
"""


@pytest.mark.parametrize(
    ("position", "expected"), [(0, [5]), (1, [1, 3, 5]), (2, [5])], ids=["first", "inner", "last"]
)
def test_several_lines(position, expected):
    """On the first or the last line a comment is about the statement, inside about its line."""
    comments = ["  # npu: ignore" if position == number else "" for number in range(3)]
    findings = [finding(line) for line in (1, 2, 3, 5)]
    assert [line for line, _ in left(STATEMENT.format(*comments), *findings)] == expected


def test_a_finding_of_several_lines():
    """Any line of the finding may hold the comment."""
    text = "f(\n  a,  # npu: ignore\n  b,\n)\n"
    assert left(text, finding(1, end_line=3), finding(3, end_line=4)) == [(3, "NPU104")]


def test_before_a_statement():
    """A comment on a line of its own is about the whole statement, not about what is in it."""
    text = "# npu: ignore\nf(\n  a,\n)\n# npu: ignore\nif (x and\n    y):\n    b = 1\n"
    found = left(text, *[finding(line) for line in (2, 3, 6, 7, 8)])
    assert [line for line, _ in found] == [8]


def test_inside_a_statement():
    """Between brackets a comment on a line of its own is about the next line."""
    text = "f(\n  a,\n  # npu: ignore\n  b,\n  c,\n)\n"
    assert [line for line, _ in left(text, *map(finding, (1, 2, 4, 5)))] == [1, 2, 5]


def test_rules_outside_of_brackets():
    """A comment that cannot be understood is told, and silences nothing."""
    for comment in ("ignore NPU104", "ignore[NPU104", "ignore[]", "ignore-file: NPU104"):
        found = Suppressions("a = 1  # npu: {}\n".format(comment)).apply([finding(1)], KNOWN)
        assert [(f.rule, f.severity) for f in found] == [
            ("NPU104", Severity.ERROR),
            ("NPU832", Severity.WARNING),
        ]


def test_line_before():
    """A comment on a line of its own is about the next line with code."""
    text = "# npu: ignore[NPU104]\n\n# more words\na = 1\nb = 2\n"
    assert left(text, finding(4), finding(5)) == [(5, "NPU104")]


def test_file():
    """A file-wide comment may stand anywhere."""
    text = "a = 1\nb = 2\n# npu: ignore-file[NPU104]\n"
    assert left(text, finding(1), finding(2), finding(1, "NPU301")) == [(1, "NPU301")]
    assert left(text.replace("[NPU104]", ""), finding(1), finding(1, "NPU301")) == []


def test_findings_without_a_line():
    """They are silenced for the whole file only."""
    text = "a = 1  # npu: ignore\n"
    assert left(text, finding(None)) == [(None, "NPU104")]
    assert left(text.replace("ignore", "ignore-file"), finding(None)) == []


def test_comments_are_judged():
    """A rule that does not exist, and a comment that silences nothing."""
    text = "a = 1  # npu: ignore[NPU999, value-not-alowed, NPU104]\nb = 2  # npu: ignore\n"
    found = Suppressions(text, "x.py").apply([finding(1)], KNOWN)
    assert [(f.line, f.column, f.end_column, f.severity) for f in found] == [
        (1, 8, 55, Severity.WARNING),
        (1, 8, 55, Severity.WARNING),
        (2, 8, 21, Severity.INFO),
    ]
    assert '"NPU999"' in found[0].message
    assert '"value-not-alowed"' in found[1].message
    assert Suppressions("a = 1\n").apply([finding(1)], KNOWN) == [finding(1)]


def test_only_unknown_rules():
    """One complaint is enough for a comment that names nothing that exists."""
    found = Suppressions("a = 1  # npu: ignore[NPU999]\n").apply([], KNOWN)
    assert [f.severity for f in found] == [Severity.WARNING]


def test_other_files():
    """In YAML, TOML and line formats a comment begins with # as well."""
    text = "precision_mode: x  # npu: ignore[NPU104]\nb: 2\n"
    assert left(text, finding(1), finding(2), is_script=False) == [(2, "NPU104")]


@pytest.mark.parametrize(
    "text", ["'''\n# npu: ignore\n", "a = (  # npu: ignore\n", "\0# npu: ignore"]
)
def test_what_is_no_python(text):
    """A text that cannot be split into tokens keeps its findings, or some; nothing raises."""
    left(text, finding(1), known=KNOWN)


def test_line_ends():
    """Whatever the ends of lines are."""
    for end in ("\r\n", "\r", "\n"):
        text = end.join(["a = 1", "b = 2  # npu: ignore", "c = 3", ""])
        assert left(text, finding(2), finding(3)) == [(3, "NPU104")]


def test_many_comments():
    """A finding is compared with the comments near it, not with all of the file."""
    compared = []

    def count(frame, event, _argument):
        compared.append(event == "call" and frame.f_code.co_name == "covers")

    text = "a = 1  # npu: ignore[NPU104]\n" * 300
    suppressions = Suppressions(text, "x.py", False)
    findings = [finding(line) for line in range(1, 301)]
    sys.setprofile(count)
    try:
        kept = suppressions.apply(findings, KNOWN)
    finally:
        sys.setprofile(None)
    assert kept == []
    assert sum(compared) == 300


def test_comments_within_a_statement():
    """One on its first or last line is about all of it, one inside about its own line."""
    text = (
        "a = f(  # npu: ignore[NPU104]\n    b,\n    c,  # npu: ignore[NPU301]\n    d,\n)\ne = 1\n"
    )
    found = [finding(line, rule) for line in (2, 3, 4, 6) for rule in ("NPU104", "NPU301")]
    assert left(text, *found) == [(2, "NPU301"), (4, "NPU301"), (6, "NPU104"), (6, "NPU301")]
