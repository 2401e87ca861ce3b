"""What becomes of small scripts, word for word: ``outcomes/*.txt``, one claim above each script.

Behind ``=>`` stand the status, the lines that go and come, and every entry of the report with its
severity.  ``python -m pytest --update-cases`` writes that anew; read the difference.
"""

import difflib
import re
from pathlib import Path

import pytest

import npu_config
from tests import golden

FOLDER = Path(__file__).parent / "outcomes"
_CASE = re.compile(
    r"^@ (?P<claim>[^\n]+)\n(?P<source>.*?)^=>\n(?P<outcome>.*?)\n(?=@|\Z)", re.M | re.S
)
FILES = {path: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.txt"))}
CASES = [
    pytest.param(path, case, id="{}: {}".format(path.stem, case["claim"]))
    for path, text in FILES.items()
    for case in _CASE.finditer(text)
]


def outcome_of(source):
    """What becomes of a script, as text."""
    found = npu_config.migrate(source)
    diff = difflib.unified_diff(source.split("\n"), found.text.split("\n"), n=0, lineterm="")
    lines = [found.status, *(line for line in list(diff)[2:] if not line.startswith("@@"))]
    for note in found.notes:
        words = (note.id, note.kind, note.severity.value)
        lines.append("{}: {}: {}".format(note.line, " ".join(words), note.note).rstrip(": "))
    return "".join(line + "\n" for line in lines)


@pytest.mark.parametrize(("path", "case"), CASES)
def test_outcome(path, case):
    """The script becomes what stands behind it."""
    outcome = outcome_of(case["source"])
    if golden.update:
        old = path.read_text(encoding="utf-8")
        head = "@ {claim}\n{source}=>\n".format(**case.groupdict())
        new = old.replace(head + case["outcome"] + "\n", head + outcome + "\n")
        path.write_bytes(new.encode("utf-8"))
    assert case["outcome"] == outcome


def test_every_case_is_read():
    """No script is passed over, and no claim is made twice in a file."""
    for path, text in FILES.items():
        claims = re.findall(r"^@ (.*)$", text, re.M)
        assert claims == [case["claim"] for case in _CASE.finditer(text)], path.name
        assert len(claims) == len(set(claims)), path.name
