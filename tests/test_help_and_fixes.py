"""What the help of a finding spells out, ``--fix`` writes: over every golden case there is."""

import functools
import re
from pathlib import Path

from npu_config.cli._fix import fixed
from npu_config.core.diagnostics import Severity
from npu_config.readers import read
from npu_config.rules.reading import Around
from tests import golden

TESTS = Path(__file__).parent
FOLDERS = [
    path / "cases"
    for path in map(TESTS.joinpath, (".", "rank_table", "readers", "script", "sidefiles"))
]
CASES = [path for folder in FOLDERS for path in golden.inputs(folder, "err")]

_VALUE = r'"[^"]+"|-?\d[\d|-]*|True|False'
EXACT = re.compile(
    r'write (?:{0}|\w+ = (?:{0})|parameter_map\["\w+"\]\.\w = (?!.*\.\.\.).+)'
    r"(?: in quotes| with quotes| without quotes)?(?:; .*)?\Z".format(_VALUE)
)
"""A help that holds the very text that belongs at the place of the finding."""

LITERAL = re.compile(r"""(?:[\w.]*as_bytes\()?b?["'][^"']*["']\)?\Z|-?\d+\Z|True\Z|False\Z""")
"""What a script writes for a value that it gives at that very place."""


@functools.lru_cache(maxsize=None)
def found_in(path):
    """The text of a case and all that is found in it, as ``check`` reads it."""
    reading = read(path)
    return reading, reading.judge(Around(golden.target_of(path)))


def text_at(text, place):
    """The characters of a finding."""
    line = text.split("\n")[place.line - 1]
    return line[place.column - 1 : place.end_column - 1]


def may_be_fixed(reading, found):
    """False for notes, and where the text of a script is a name, an expression, a message."""
    if found.severity is Severity.INFO or found.line is None or found.line != found.end_line:
        return False
    if not reading.fixable:  # it may be the file of another program
        return False
    if reading.kind != "script":
        return True
    line = reading.text.split("\n")[found.line - 1]
    return "AttrValue(" not in line and LITERAL.match(text_at(reading.text, found.place))


@golden.each(CASES)
def test_every_finding_says_what_to_do(path):
    """An error or a warning comes with a help: its own, or that of its rule."""
    _, findings = found_in(path)
    missing = [str(f) for f in findings if f.severity is not Severity.INFO and not f.help]
    assert missing == []


@golden.each(CASES)
def test_what_the_help_spells_out_is_a_fix(path):
    """A help with the exact text comes with a fix."""
    reading, findings = found_in(path)
    missing = [
        str(found)
        for found in findings
        if EXACT.match(found.help or "") and may_be_fixed(reading, found) and found.fix is None
    ]
    assert missing == []


@golden.each(CASES)
def test_a_fix_ends_its_finding(path):
    """With its fix done a finding is gone, and the text can still be read."""
    reading, findings = found_in(path)
    kept = []
    for found in findings:
        if found.fix is not None and found.fix.safe:
            after, _ = fixed(reading.text, [found])
            again = read(path, reading.kind, after.encode(reading.encoding))
            same = [d for d in again.judge(Around(golden.target_of(path))) if is_same(d, found)]
            before = [d for d in findings if is_same(d, found)]
            if len(same) >= len(before) or again.skipped:
                kept.append((str(found), found.fix))
    assert kept == []


def is_same(one, other):
    """True for the same fault, wherever it stands."""
    return (one.rule, one.message, one.option) == (other.rule, other.message, other.option)
