"""The one runner of golden cases: an input beside the findings about it.

A folder ``cases`` has two halves, ``err`` and ``ok``, each with inputs or with a folder of inputs
for each kind of file.

- ``err/NAME.EXT`` yields exactly the findings in ``err/NAME.EXT.out``; when NAME begins with the
  id of a rule (``NPU705-keys.yaml``, or ``NPU705+NPU706-keys.yaml`` with several), that rule is
  among them.  Only the findings of these rules are held with their words; those of other rules
  are held by place, severity and id, so that the words of a rule change the cases of that rule.
- What ``ok/NAME.EXT`` may yield is for the test of its folder to say.
- Words after ``@`` in NAME are the target: ``switch@ascend_950.cfg``, ``trace@training.json``,
  ``train@cann-5-0-2.py``.

After a change of a message write all outputs anew, and read the difference before it is
committed:

    python -m pytest --update-cases
"""

import os
import re
from pathlib import Path

import pytest

from npu_config.core.target import MODES, Target

EXAMPLES = int(os.environ.get("NPU_CONFIG_EXAMPLES", "50"))
"""How often each property is tried: in full on the newest Python (noxfile.py)."""


def tries(count):
    """How often a property is tried that says a number itself: so often on the newest Python."""
    return max(10, count * EXAMPLES // 50)


STRIDE = 1 if EXAMPLES >= 50 else 3
"""Every so manyth input goes through what takes a call of the command for each input."""

update = False
"""Write what is found instead of comparing with it; ``--update-cases`` sets it."""

_RULES = re.compile(r"NPU\d{3,4}(\+NPU\d{3,4})*(?=-)")


def inputs(folder, half):
    """Every input of a half, ``ok`` or ``err``, in order."""
    return sorted(
        path for path in Path(folder, half).rglob("*") if path.is_file() and path.suffix != ".out"
    )


def each(paths):
    """The decorator that runs a test on each of these cases, as the argument ``path``."""
    return pytest.mark.parametrize("path", paths, ids=lambda path: _name(path))


def wrong(folder):
    """The decorator that runs a test on each case of ``err``."""
    return each(inputs(folder, "err"))


def right(folder):
    """The decorator that runs a test on each case of ``ok``."""
    return each(inputs(folder, "ok"))


def target_of(path):
    """The target that the name of a case says."""
    words = path.name.split(".")[0].split("@")[1:]
    mode = next((word for word in words if word in MODES), None)
    cann = next((word for word in words if word.startswith("cann-")), None)
    product = next((word for word in words if word not in (mode, cann)), None)
    return Target(product, mode, cann and cann[5:].replace("-", "."))


def rules_of(*paths):
    """The ids of the rules that the names of cases begin with."""
    own = filter(None, (_RULES.match(path.name) for path in paths))
    return {rule for match in own for rule in match.group().split("+")}


def text_of(path):
    """The exact text of a case."""
    return path.read_bytes().decode("utf-8")


def rendered(report, path):
    """The text of an ``.out``: each finding with its whole place; own ones with words and fix."""
    own = rules_of(path)
    lines = []
    for found in report:
        where = "" if found.path in (None, path.name) else "{}:".format(found.path)
        if found.line is not None:
            where += "{0.line}:{0.column}-{0.end_line}:{0.end_column}:".format(found)
        said = "{}{}: ".format(where + " " if where else "", found.severity.value)
        if own and found.rule not in own:
            lines.append("{}[{}]".format(said, found.rule))
            continue
        lines.append("{}{} [{} {}]".format(said, found.message, found.rule, found.name))
        if found.help is not None:
            lines.append("    help: {}".format(found.help))
        if found.fix is not None:
            lines.append("    fix: {}".format(found.fix.title))
    return "".join(line + "\n" for line in lines)


def check(path, report):
    """The findings about a wrong case are those of its ``.out``, its own rules among them."""
    text = rendered(report, path)
    output = path.with_name(path.name + ".out")
    if update:
        output.write_bytes(text.encode("utf-8", "backslashreplace"))
    assert output.read_bytes().decode("utf-8") == text
    assert text, "{} draws nothing".format(path.name)
    missing = rules_of(path) - {found.rule for found in report}
    assert not missing, "{} does not draw {}, but:\n{}".format(path.name, sorted(missing), text)


_CLAIM = re.compile(
    r"^@ (?P<claim>[^\n]+)\n(?P<source>.*?)^=>\n(?P<outcome>.*?)\n(?=@|\Z)", re.M | re.S
)


def claims(folder, names="*.txt"):
    """The decorator that runs a test on each ``path`` and ``case`` of the files of a folder.

    A case is a claim behind ``@``, what it is about, ``=>`` and its outcome, for :func:`hold`.
    """
    found = []
    for path in sorted(Path(folder).glob(names)):
        text = text_of(path)
        named = re.findall(r"^@ (.*)$", text, re.M)
        cases = list(_CLAIM.finditer(text))
        assert named == [case["claim"] for case in cases], path.name
        assert len(named) == len(set(named)), path.name
        for case in cases:
            name = "{}: {}".format(path.stem, case["claim"])
            found.append(pytest.param(path, case, id=name))
    return pytest.mark.parametrize(("path", "case"), found)


def hold(path, case, outcome):
    """The outcome of a case is that behind it, line for line."""
    if update:
        head = "@ {claim}\n{source}=>\n".format(**case.groupdict())
        new = text_of(path).replace(head + case["outcome"] + "\n", head + outcome + "\n")
        path.write_bytes(new.encode("utf-8"))
    assert case["outcome"] == outcome


def _name(path):
    kind = path.parent.name
    return path.name if kind in ("ok", "err") else "{}/{}".format(kind, path.name)
