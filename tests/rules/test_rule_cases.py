"""Golden cases: ``tests/cases/err/NPUxxx-*`` beside what is said of them, and ``ok/``.

Config files (``.yaml``), and what these cannot hold as ConfigProto text (``.pbtxt``) and as
scripts (``.py``).

The first case of each rule is the example of its page; ``--update-cases`` writes these inputs
too (see ``tests/golden.py``).
"""

from pathlib import Path

from npu_config.core.diagnostics import Severity
from npu_config.rules.case import case_rules
from tests import golden
from tests.rules.rule_examples import examples, findings

FOLDER = Path(__file__).parent.parent / "cases"


def from_pages():
    """Path and text of the cases that the pages give."""
    for rule in case_rules():
        for wrong, folder in ((True, "err"), (False, "ok")):
            blocks = [e for e in examples(rule.page) if e.wrong is wrong and not e.is_code]
            for number, example in enumerate(blocks):
                suffix = "" if number == 0 else "-{}".format(number + 1)
                name = "{}-{}{}.yaml".format(rule.id, rule.name, suffix)
                yield FOLDER / folder / name, "version: 1\n" + example.text


if golden.update:
    for path, text in from_pages():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def found_in(path, directory):
    """All findings about a case."""
    return findings(golden.text_of(path), directory, path.name)


@golden.wrong(FOLDER)
def test_wrong_case(path, tmp_path):
    """A wrong case yields exactly what its ``.out`` file says, its own rule among it."""
    golden.check(path, found_in(path, tmp_path))


@golden.right(FOLDER)
def test_right_case(path, tmp_path):
    """A right case does not break its own rule, nor has it an error."""
    found = found_in(path, tmp_path)
    assert [str(d) for d in found if d.severity is Severity.ERROR] == []
    assert golden.rules_of(path) & {diagnostic.rule for diagnostic in found} == set()


def test_cases_hold_the_examples_of_the_pages():
    """The example of each page stands among the cases, word for word."""
    for path, text in from_pages():
        assert text == path.read_text(encoding="utf-8"), path.name
