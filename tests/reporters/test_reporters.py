"""The reports: text, JSON, SARIF, annotations of GitHub."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_config.core.diagnostics import (
    NOWHERE,
    REGISTRY,
    Diagnostic,
    Edit,
    Fix,
    Place,
    Report,
    Severity,
)
from npu_config.core.message import harmless, width
from npu_config.reporters import FORMATS, PLAIN, Style, Summary, render
from npu_config.reporters.github import escape_data, escape_property
from npu_config.rulebook import load_all

SEVERITIES = st.sampled_from(list(Severity))


def finding(place=NOWHERE, message="something is wrong", help=None, severity=Severity.ERROR):
    """A diagnostic."""
    load_all()
    return REGISTRY["NPU104"].diagnostic(message, place, "dump_mode", help, severity)


def text_of(*diagnostics, sources=None, style=PLAIN):
    """The text report, without the last line."""
    report = Report(diagnostics)
    summary = Summary.of(report, 1)
    text = render("text", report, summary, sources, style)
    last = "\n{}\n".format(summary)
    assert text.endswith(last)
    return text[: -len(last)]


DIAGNOSTICS = st.builds(
    Diagnostic,
    rule=st.sampled_from(["NPU104", "NPU705"]),
    name=st.just("value-not-allowed"),
    severity=SEVERITIES,
    message=st.text(max_size=30),
    option=st.one_of(st.none(), st.text(max_size=5)),
    path=st.one_of(st.none(), st.text(max_size=8)),
    line=st.one_of(st.none(), st.integers(1, 4)),
    column=st.one_of(st.none(), st.integers(1, 12)),
    end_line=st.one_of(st.none(), st.integers(1, 4)),
    end_column=st.one_of(st.none(), st.integers(1, 12)),
    help=st.one_of(st.none(), st.text(max_size=10)),
)


@pytest.mark.parametrize("format_", FORMATS)
def test_anything_can_be_reported(format_):
    """Any diagnostics about any text; the output can always be encoded."""

    @given(st.lists(DIAGNOSTICS, max_size=4), st.text(max_size=60))
    def check(diagnostics, text):
        report = Report(diagnostics)
        sources = {diagnostic.path: text for diagnostic in diagnostics}
        output = render(format_, report, Summary.of(report, 2), sources, Style(color=True))
        output.encode("utf-8")
        assert output.endswith("\n")

    check()


def test_text():
    """Place, severity, message, rule; line and caret; help; the numbers at the end."""
    place = Place("npu.yaml", 2, 12, 2, 15)
    report = Report([finding(place, '"dump_mode" is "ALL"', 'write "all"')])
    assert (
        render("text", report, Summary.of(report, 3, 1), {"npu.yaml": "a: 1\ndump_mode: ALL\n"})
        == """\
npu.yaml:2:12: error: "dump_mode" is "ALL" [NPU104 value-not-allowed]
    2 | dump_mode: ALL
      |            ^~~
    help: write "all"

1 error: 2 files checked, 1 not checked
"""
    )


def test_text_without_findings():
    """One line."""
    report = Report()
    assert render("text", report, Summary.of(report, 1)) == "no problem found in 1 file\n"


@pytest.mark.parametrize(
    ("line", "place", "expected"),
    [
        ("\tx:\tALL", (5, 8), "    1 |     x:    ALL\n      |           ^~~\n"),
        ("路径: ALL", (5, 8), "    1 | 路径: ALL\n      |       ^~~\n"),
        ("a: 路径 b", (4, 6), "    1 | a: 路径 b\n      |    ^~~~\n"),
        ("e\u0301: ALL", (5, 8), "    1 | e\u0301: ALL\n      |    ^~~\n"),
        ("a: \x1b[31m", (4, 9), "    1 | a: \ufffd[31m\n      |    ^~~~~\n"),
        ("a: b\r", (4, 5), "    1 | a: b\n      |    ^\n"),
        ("a:", (3, 3), "    1 | a:\n      |   ^\n"),
        ("\ufeffa: b", (5, 6), "    1 | a: b\n      |    ^\n"),
        ("a", (9, 12), "    1 | a\n      |  ^\n"),
    ],
)
def test_the_caret_stands_under_the_span(line, place, expected):
    """Tabs, wide, combining and control characters are counted as they are shown."""
    found = finding(Place("x", 1, place[0], 1, place[1]))
    assert text_of(found, sources={"x": line}).split("\n", 1)[1] == expected


def test_a_span_of_several_lines_is_marked_on_the_first():
    """To the end of that line."""
    found = finding(Place("x", 1, 4, 3, 2))
    assert "      |    ^~~~~\n" in text_of(found, sources={"x": "a: [1, 2\n3\n]"})


def test_long_lines_are_cut():
    """Around the span, with the caret still under it."""
    line = "a" * 500 + "b: ALL" + "c" * 500
    text = text_of(finding(Place("x", 1, 504, 1, 507)), sources={"x": line})
    _, shown, caret = text.splitlines()
    assert "...aaaa" in shown
    assert shown.endswith("cccc...")
    assert shown[caret.index("^") :].startswith("ALLccc")
    assert caret.count("~") == 2
    assert len(shown) < 140


def test_a_place_outside_the_text_shows_no_line():
    """The file changed, or there is no text."""
    assert text_of(finding(Place("x", 9, 1)), sources={"x": "a"}).count("\n") == 1
    assert text_of(finding(Place("x", 1, 1))).count("\n") == 1


def test_values_that_came_from_no_file():
    """The message stands alone."""
    assert text_of(finding()) == "error: something is wrong [NPU104 value-not-allowed]\n"


def test_colours_are_only_there_when_asked_for():
    """And without them the text is the same."""
    found = finding(Place("x", 1, 1, 1, 2), help="help!")
    plain = text_of(found, sources={"x": "a: b"})
    colored = text_of(found, sources={"x": "a: b"}, style=Style(color=True))
    assert "\x1b" not in plain
    assert "\x1b[1;31merror\x1b[0m" in colored
    assert re.sub("\x1b\\[[0-9;]*m", "", colored) == plain


def test_messages_stay_on_their_line():
    """Whatever a file name or a value holds."""
    found = finding(Place("a\nb", 1), "x\r\ny\x1b[0m", "u\nv")
    text = text_of(found)
    assert text.count("\n") == 2
    assert "\x1b" not in text


def test_equal_findings_are_grouped():
    """The first is shown, the others are counted with their lines; other kinds stand alone."""
    found = [finding(Place("x", line, 1), "rank_id is {}".format(line)) for line in range(1, 10)]
    other = finding(Place("y", 1, 1), "rank_id is 1")
    helped = finding(Place("x", 4, 1), "rank_id is 4", "write it")
    text = text_of(*found, other, helped)
    assert text == (
        "x:1:1: error: rank_id is 1 [NPU104 value-not-allowed]\n"
        "    and 8 more of this kind: lines 2, 3, 4, 5, 6, 7, ...\n"
        "\n"
        "x:4:1: error: rank_id is 4 [NPU104 value-not-allowed]\n"
        "    help: write it\n"
        "\n"
        "y:1:1: error: rank_id is 1 [NPU104 value-not-allowed]\n"
    )
    same = [finding(Place("x", 1, column), "no") for column in (1, 5)]
    assert "    and 1 more of this kind: line 1\n" in text_of(*same)
    mended = [
        replace(finding(help="write " + text), fix=Fix("write", (Edit(1, 1, 1, 2, text),)))
        for text in "ab"
    ]
    assert text_of(*mended).count("help: write") == 1


def test_notes_are_counted_or_shown():
    """Errors and warnings are always shown."""
    report = Report([finding(), finding(message="by the way", severity=Severity.INFO)])
    summary = Summary.of(report, 1)
    assert render("text", report, summary, style=Style(notes=False)).splitlines() == [
        "error: something is wrong [NPU104 value-not-allowed]",
        "",
        "1 error in 1 file",
        "1 note; --notes shows it",
    ]
    assert "info: by the way" in render("text", report, summary)
    assert render("text", report, summary).endswith("\n1 error, 1 note in 1 file\n")
    assert len(json.loads(render("json", report, summary))["diagnostics"]) == 2


def test_hints_say_what_can_be_done():
    """How many findings can be fixed, and where to read more."""
    fixable = replace(finding(Place("x", 1, 1)), fix=Fix("x", (Edit(1, 1, 1, 2, "y"),)))
    report = Report([fixable, finding(message="more")])
    lines = render("text", report, Summary.of(report, 1), style=Style(hints=True)).splitlines()
    assert lines[-2:] == ["1 can be fixed with --fix", "npu-config explain NPU104 says more"]


@given(st.text(), st.booleans())
def test_harmless_lines(text, color):
    """No control character, no workflow command, and what is plain stays as it is."""
    safe = harmless(text, color)
    for line in safe.split("\n"):
        assert line.replace("\t", "").rstrip("\r").isprintable() or color
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
    if all(line.isprintable() for line in text.split("\n")) and ":" not in text:
        assert safe == text or "##[" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n  ::error::x", "a\n  \\x3a:error::x"),
        ("x ##[error]y", "x ##\\x5berror]y"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("a\rb\r\nc\td", "a\\rb\r\nc\td"),
        ("\u202eabc", "\\u202eabc"),
        ("\udcff", "\\udcff"),
    ],
)
def test_what_is_escaped(text, expected):
    """Control characters, direction marks, undecodable bytes, commands of CI systems."""
    assert expected == harmless(text)


def test_colours_of_ours_survive():
    """Only colours: no other sequence that a terminal acts on."""
    assert harmless("\x1b[1;31merror\x1b[0m \x1b]0;x\x07", color=True) == (
        "\x1b[1;31merror\x1b[0m \\x1b]0;x\\x07"
    )


def test_width():
    """Columns on a terminal."""
    assert [width(text) for text in ("abc", "路径", "e\u0301", "\uff4fut")] == [3, 4, 1, 4]


def test_summary():
    """Singular, plural, and nothing."""
    assert str(Summary(1, 1, 0, 0, 0)) == "1 error in 1 file"
    assert str(Summary(2, 2, 1, 2, 0)) == "2 errors, 1 warning, 2 notes in 2 files"
    assert str(Summary(0, 1, 0, 0, 0)) == "1 error"
    assert str(Summary(0, 0, 0, 0, 0)) == "no file was checked"


def test_json_is_the_contract():
    """Exactly these keys; the fix, what was meant and the consequence are null without one."""
    fix = Fix("write x", (Edit(1, 2, 1, 3, "x"),), safe=False)
    found = replace(
        finding(Place("x", 1, 2, 1, 3), help="h"), fix=fix, meant="x", consequence="it aborts"
    )
    report = Report([found])
    document = json.loads(render("json", report, Summary.of(report, 1)))
    assert document == {
        "version": 1,
        "diagnostics": [
            {
                "path": "x",
                "line": 1,
                "column": 2,
                "end_line": 1,
                "end_column": 3,
                "rule": "NPU104",
                "name": "value-not-allowed",
                "severity": "error",
                "option": "dump_mode",
                "message": "something is wrong",
                "help": "h",
                "url": "https://npu-config.readthedocs.io/en/latest/rules/NPU104.html",
                "fix": {
                    "edits": [
                        {"line": 1, "column": 2, "end_line": 1, "end_column": 3, "text": "x"}
                    ],
                    "safe": False,
                },
                "meant": "x",
                "consequence": "it aborts",
                "situation": None,
            }
        ],
        "summary": {"files": 1, "errors": 1, "warnings": 0, "infos": 0, "skipped": 0},
        "unchecked": [],
        "job_ends": [],
    }
    assert [finding().to_dict()[key] for key in ("fix", "meant", "consequence")] == [None] * 3


@pytest.mark.parametrize(
    ("severity", "command"), [("error", "error"), ("warning", "warning"), ("info", "notice")]
)
def test_github(severity, command):
    """One command for each finding; the properties that a span of one line has."""
    found = finding(Place("a,b:c", 1, 2, 1, 3), "50% of\nit", "h", Severity(severity))
    first = render("github", Report([found]), Summary(1, 1, 0, 0, 0)).splitlines()[0]
    assert first == (
        "::{} file=a%2Cb%3Ac,line=1,endLine=1,col=2,endColumn=3,"
        "title=NPU104 value-not-allowed::50%25 of%0Ait%0Ahelp: h".format(command)
    )


def test_github_leaves_columns_out_of_long_spans():
    """The runner takes columns only on one line."""
    line = render("github", Report([finding(Place("x", 1, 2, 3, 4))]), Summary(1, 1, 0, 0, 0))
    assert "line=1,endLine=3,title=" in line


@given(st.text())
def test_github_escapes_can_be_undone(text):
    """Nothing of a message is lost."""
    data = escape_data(text)
    assert not set("\r\n") & set(data)
    assert data.isprintable()
    if text.translate({10: "", 13: ""}).isprintable():
        assert data.replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%") == text
    assert not set("\r\n:,") & set(escape_property(text))


SARIF = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": {"$ref": "#/$defs/run"}, "minItems": 1},
    },
    "$defs": {
        "text": {
            "type": "object",
            "required": ["text"],
            "properties": {"text": {"type": "string"}, "markdown": {"type": "string"}},
            "additionalProperties": False,
        },
        "level": {"enum": ["none", "note", "warning", "error"]},
        "run": {
            "type": "object",
            "required": ["tool", "results"],
            "additionalProperties": False,
            "properties": {
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "tool": {
                    "type": "object",
                    "required": ["driver"],
                    "additionalProperties": False,
                    "properties": {"driver": {"$ref": "#/$defs/driver"}},
                },
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
            },
        },
        "driver": {
            "type": "object",
            "required": ["name"],
            "additionalProperties": False,
            "properties": {
                "name": {"type": "string"},
                "semanticVersion": {"type": "string"},
                "informationUri": {"type": "string", "format": "uri"},
                "rules": {"type": "array", "items": {"$ref": "#/$defs/rule"}, "uniqueItems": True},
            },
        },
        "rule": {
            "type": "object",
            "required": ["id"],
            "additionalProperties": False,
            "properties": {
                "id": {"type": "string"},
                "name": {"type": "string"},
                "helpUri": {"type": "string", "format": "uri"},
                "shortDescription": {"$ref": "#/$defs/text"},
                "fullDescription": {"$ref": "#/$defs/text"},
                "help": {"$ref": "#/$defs/text"},
                "defaultConfiguration": {
                    "type": "object",
                    "properties": {"level": {"$ref": "#/$defs/level"}},
                    "additionalProperties": False,
                },
            },
        },
        "result": {
            "type": "object",
            "required": ["message"],
            "additionalProperties": False,
            "properties": {
                "ruleId": {"type": "string"},
                "ruleIndex": {"type": "integer", "minimum": 0},
                "level": {"$ref": "#/$defs/level"},
                "message": {"$ref": "#/$defs/text"},
                "locations": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"physicalLocation": {"$ref": "#/$defs/place"}},
                        "additionalProperties": False,
                    },
                },
                "fixes": {"type": "array", "items": {"$ref": "#/$defs/fix"}, "uniqueItems": True},
                "properties": {"type": "object"},
            },
        },
        "place": {
            "type": "object",
            "required": ["artifactLocation"],
            "additionalProperties": False,
            "properties": {
                "artifactLocation": {"$ref": "#/$defs/artifact"},
                "region": {"$ref": "#/$defs/region"},
            },
        },
        "artifact": {
            "type": "object",
            "properties": {"uri": {"type": "string", "pattern": "^[A-Za-z0-9._~:/%-]*$"}},
            "additionalProperties": False,
        },
        "region": {
            "type": "object",
            "required": ["startLine"],
            "additionalProperties": False,
            "properties": {
                name: {"type": "integer", "minimum": 1}
                for name in ("startLine", "startColumn", "endLine", "endColumn")
            },
        },
        "fix": {
            "type": "object",
            "required": ["artifactChanges"],
            "additionalProperties": False,
            "properties": {
                "description": {"$ref": "#/$defs/text"},
                "artifactChanges": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "object",
                        "required": ["artifactLocation", "replacements"],
                        "additionalProperties": False,
                        "properties": {
                            "artifactLocation": {"$ref": "#/$defs/artifact"},
                            "replacements": {
                                "type": "array",
                                "minItems": 1,
                                "items": {
                                    "type": "object",
                                    "required": ["deletedRegion"],
                                    "additionalProperties": False,
                                    "properties": {
                                        "deletedRegion": {"$ref": "#/$defs/region"},
                                        "insertedContent": {"$ref": "#/$defs/text"},
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}
"""The parts of SARIF 2.1.0 that are written, as its specification has them."""


def sarif(*diagnostics):
    """The one run of a SARIF report, validated."""
    jsonschema = pytest.importorskip("jsonschema")
    document = json.loads(render("sarif", Report(diagnostics), Summary(1, 1, 0, 0, 0)))
    jsonschema.Draft202012Validator(SARIF).validate(document)
    return document["runs"][0]


def test_sarif():
    """Rules with their pages, results with their places and fixes."""
    place = Place("a b/路.yaml", 1, 2, 1, 3)
    fix = Fix("write it", (Edit(1, 2, 1, 3, "x"),))
    load_all()
    run = sarif(replace(finding(place, help="h"), fix=fix), finding(severity=Severity.INFO))
    (rule,) = run["tool"]["driver"]["rules"]
    nowhere, placed = run["results"]
    assert (rule["id"], rule["name"]) == ("NPU104", "value-not-allowed")
    assert rule["help"]["text"].startswith("A value is not one of the legal")
    assert nowhere["level"] == "note"
    assert "locations" not in nowhere
    assert placed["message"]["text"] == "something is wrong\nhelp: h"
    assert placed["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20b/%E8%B7%AF.yaml"},
        "region": {"startLine": 1, "startColumn": 2, "endLine": 1, "endColumn": 3},
    }
    (change,) = placed["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"] == {"text": "x"}


def test_sarif_as_others_read_it():
    """A report with everything in it passes the model of SARIF 2.1.0 that other tools use."""
    models = pytest.importorskip("sarif_pydantic")
    place = Place("a b/路.yaml", 1, 2, 1, 3)
    fix = Fix("write it", (Edit(1, 2, 1, 3, "x"),))
    found = [replace(finding(place, help="h"), fix=fix), finding(), finding(Place("/x", 1))]
    text = render("sarif", Report(found), Summary(1, 1, 0, 0, 0))
    (run,) = models.Sarif.model_validate_json(text).runs
    assert len(run.results) == 3
    assert sorted(len(result.fixes or ()) for result in run.results) == [0, 0, 1]


def test_sarif_of_an_absolute_path():
    """It is a file URI."""
    run = sarif(finding(Place("/tmp/x.yaml", 1, 1)))
    location = run["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"] == {"uri": "file:///tmp/x.yaml"}


@given(st.lists(DIAGNOSTICS, max_size=4))
def test_sarif_is_always_valid(diagnostics):
    """Whatever is reported."""
    sarif(*diagnostics)
