"""What ``check`` finds in a migrated script is mended or left to do, at its line before.

The scripts are in ``situations.txt``.
"""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import npu_config
from npu_config import NpuConfigError
from npu_config.cli.app import app
from npu_config.core.diagnostics import Diagnostic, Edit, Fix, Severity
from npu_config.migration.situations import Back
from npu_config.migration.work import Replacement
from npu_config.text.source import fault

try:
    RUNNER = CliRunner(mix_stderr=False)
except TypeError:  # click 8.2
    RUNNER = CliRunner()

HEAD = """\
import tensorflow as tf
from elsewhere import make, other

v = tf.Variable(0.0)
data = tf.data.Dataset.range(8)
it = tf.data.make_initializable_iterator(data)
x = it.get_next()
sess = tf.Session()
"""
TEXT = (Path(__file__).parent / "situations.txt").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"^@ ([^\n]*)\n(.*?)(?=^@|\Z)", TEXT, re.M | re.S)


def run(*arguments):
    """The output of the command, and its exit code."""
    result = RUNNER.invoke(app, [str(one) for one in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result.stdout, result.exit_code


@pytest.fixture(scope="module")
def migrated(tmp_path_factory):
    """Every script and its copy, and the report by the names of the files."""
    folder = tmp_path_factory.mktemp("situations")
    (folder / "in").mkdir()
    for number, (_, source) in enumerate(SCRIPTS):
        (folder / "in" / "{:02}.py".format(number)).write_text(HEAD + source, encoding="utf-8")
    out = folder / "out"
    report, _ = run("migrate", folder / "in", "--output", out, "--report", "json")
    found, _ = run("check", "--format", "json", out)
    again, _ = run("migrate", out, "--report", "json")
    assert all(one["status"] != "changed" for one in json.loads(again)["files"])
    return out, json.loads(report), json.loads(found)


@pytest.mark.parametrize("number", range(len(SCRIPTS)))
def test_situation(migrated, number):
    """Mended, left to do at its line with its page, or not mentioned at all."""
    out, report, found = migrated
    expected, source = SCRIPTS[number]
    name = "{:02}.py".format(number)
    entries = next(one["entries"] for one in report["files"] if one["path"].endswith(name))
    entries = [one for one in entries if one["situation"]]
    left = [one for one in entries if one["kind"] != "changed"]
    text = (out / name).read_text(encoding="utf-8")
    if expected.startswith("mended: "):
        assert expected[len("mended: ") :].replace("\\n", "\n") in text
        assert [one["kind"] for one in entries] == ["changed"]
        assert name not in json.dumps([one for one in found["diagnostics"] if one["situation"]])
    else:
        assert text.endswith(
            source.replace("tf.Session()", "tf.Session(config=npu_config_proto())")
        )
        assert [one["id"] for one in left] == expected.split()[1:]
        assert all(one["severity"] != "info" for one in left)
    lines = (HEAD + source).split("\n")
    assert all(re.search("run|zeros|variable|Variable", lines[e["line"] - 1]) for e in entries)


MIGRATED = "import\nab\nXYZ\nef\n"
BACK = Back(MIGRATED, 9, [Replacement(0, 0, "import\n"), Replacement(3, 5, "XYZ")])
"""Of ``ab``, ``cd`` and ``ef``: a line before them, and another text for the second."""


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        *(((1, 1), (0, 0)), ((1, 3), (0, 0)), ((2, 1), (0, 1)), ((2, 3), (2, 1))),
        *(((3, 1), (3, 1)), ((3, 3), (3, 1)), ((3, 4), (5, 2)), ((4, 1), (6, 2))),
        *(((4, 3), (8, 2)), ((5, 1), (9, 2)), ((9, 1), (9, 2))),
    ],
)
def test_from_a_migrated_script_to_the_one_before(place, expected):
    """What stays is where it was; what came is at the end of what stays before it."""
    assert BACK.offset(*place) == expected


@pytest.mark.parametrize(
    ("edits", "is_safe", "changes"),
    [
        ([(2, 1, 2, 3, "Q")], True, [(0, 2, "Q")]),
        ([(2, 1, 2, 3, "Q")], False, None),
        ([(2, 1, 2, 2, "Q"), (4, 1, 4, 2, "")], True, [(0, 1, "Q"), (6, 7, "")]),
        ([(2, 2, 4, 1, "Q")], True, None),
        ([(4, 1, 4, 2, ""), (1, 1, 2, 1, "Q")], True, None),
        ([], True, None),
        (None, True, None),
    ],
)
def test_fixes_in_the_script_before(edits, is_safe, changes):
    """Those that are safe and touch nothing that the migration wrote."""
    fix = None if edits is None else Fix("do", tuple(Edit(*one) for one in edits), is_safe)
    assert BACK.changes(Diagnostic("NPU1", "x", Severity.ERROR, "", fix=fix)) == changes


@pytest.mark.parametrize("help", ["report it", None])
@pytest.mark.parametrize("other", ["", "tf.Session('grpc://a')\n"])
def test_a_fault_of_check(monkeypatch, other, help):
    """It has no place, and is left to do on the first line."""

    def fail(*arguments):
        raise NpuConfigError([replace(fault("a.py", KeyError("x")), message="no", help=help)])

    monkeypatch.setattr("npu_config.script.find_situations", fail)
    monkeypatch.setattr("npu_config.script.may_find_situations", lambda words: True)
    found = npu_config.migrate("import tensorflow as tf\nwith tf.Session(): pass\n" + other)
    (note,) = [note for note in found.notes if note.id == "NPU700"]
    assert (note.line, note.kind, note.severity) == (1, "manual", Severity.ERROR)
    assert note.note == ("no" if help is None else "no: report it")
