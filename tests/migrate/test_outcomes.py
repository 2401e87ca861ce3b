"""What becomes of small scripts: ``outcomes/*.txt`` with words, ``entries/*.txt`` without.

Behind ``=>`` stand the status, the lines that go and come, and every entry of the report with its
severity.  ``python -m pytest --update-cases`` writes that anew; read the difference.
"""

import difflib
from pathlib import Path

import npu_config
from tests import golden


def outcome_of(source, is_said=True):
    """What becomes of a script, as text; ``is_said``: with what is said of it."""
    found = npu_config.migrate(source)
    diff = difflib.unified_diff(source.split("\n"), found.text.split("\n"), n=0, lineterm="")
    lines = [found.status, *(line for line in list(diff)[2:] if not line.startswith("@@"))]
    for note in found.notes:
        words = (note.id, note.kind, note.severity.value)
        is_own = note.found is None  # what check says is for its own cases
        said = note.note if is_said and is_own else ""
        lines.append("{}: {}: {}".format(note.line, " ".join(words), said).rstrip(": "))
    return "".join(line + "\n" for line in lines)


@golden.claims(Path(__file__).parent / "outcomes")
def test_outcome(path, case):
    """The script becomes what stands behind it."""
    golden.hold(path, case, outcome_of(case["source"]))


@golden.claims(Path(__file__).parent / "entries")
def test_entries(path, case):
    """The same of scripts whose messages other tests hold."""
    golden.hold(path, case, outcome_of(case["source"], is_said=False))
