"""A matrix: every rule of scripts, its wrong examples at every place where the code may stand."""

import ast
import textwrap

import pytest

from npu_config.core.target import Target
from npu_config.script import judge_script
from npu_config.script.checks import CHECKS
from npu_config.script.vocabulary import may_matter
from tests.rules.rule_examples import examples
from tests.script.test_pages import framed, least_severity

RULES = [check.rule for check in CHECKS]
STAR = "from npu_bridge.npu_init import *\n"
MAIN = 'if __name__ == "__main__":\n'


def _in(opening, body, calls):
    return "{}:\n{}\n{}".format(opening, textwrap.indent(body, "    "), calls)


PLACEMENTS = {
    "module": lambda body: body + MAIN + "    pass\n",
    "main": lambda body: _in("def main(argv)", body, MAIN + "    main([])\n"),
    "method": lambda body: (
        "class Trainer:\n"
        + textwrap.indent(_in("def train(self, argv)", body, ""), "    ")
        + "\n"
        + MAIN
        + "    Trainer().train([])\n"
    ),
    "with": lambda body: _in("with open('log') as log", body, MAIN + "    pass\n"),
    "constructor": lambda body: (
        "class Trainer(object):\n"
        + textwrap.indent(_in("def __init__(self, argv)", body, ""), "    ")
        + "\n"
        + MAIN
        + "    trainer = Trainer([])\n"
    ),
    "nested": lambda body: _in(
        "def main(argv)",
        _in("def inner()", body, "inner()\n"),
        MAIN + "    main([])\n",
    ),
    "app": lambda body: _in("def main(argv)", body, MAIN + "    tf.app.run(main)\n"),
    "under main": lambda body: _in(MAIN.rstrip(":\n"), body, ""),
    "at once": lambda body: body + "sess_of_others.run(op_of_others)\n",
    "try": lambda body: _in("try", body, "finally:\n    pass\n" + MAIN + "    pass\n"),
    "imported": lambda body: _in("def train(argv)", body, ""),
}

_OF_A_PROGRAM = "another script configures the session, or does what is missing"
_LATER = "it may be called when collective communication is initialised"
EXCEPTIONS = {
    **{
        (rule, "imported"): _OF_A_PROGRAM
        for rule in ("NPU4001", "NPU4002", "NPU2001", "NPU2003", "NPU2006", "NPU6004")
    },
    **{
        (rule, "imported"): "it may be a function of a dataset, which the host runs"
        for rule in ("NPU2007", "NPU8107", "NPU8108", "NPU8111", "NPU8112", "NPU8113")
    },
    **{("NPU6003", place): _LATER for place in ("nested", "try", "imported")},
}
"""(rule, placement) -> why nothing may be said there."""


def placed(text, placement):
    """An example whose statements stand elsewhere; imports and definitions stay outside."""
    script = framed(text)
    tree = ast.parse(script)
    lines = script.splitlines(True)
    tail = tree.body[-1]
    head, body = [], []
    for number, node in enumerate(tree.body[:-1]):
        first = min([node.lineno] + [d.lineno for d in getattr(node, "decorator_list", ())])
        last = tree.body[number + 1].lineno - 1
        outside = isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef))
        (head if outside else body).extend(lines[first - 1 : last])
    assert isinstance(tail, ast.If)
    return "".join(head) + "\n" + PLACEMENTS[placement]("".join(body) or "pass\n")


def speaks(rule, example, placement):
    """True when a rule says more of an example at a place than information, unless it is one."""
    target = Target(cann=example.remark.rpartition("CANN ")[2] or None)
    text = placed(example.text, placement)
    judged = judge_script(text, target=target if target.cann else None)
    least = least_severity(rule)
    return rule.id in {each.rule for each in judged if each.severity >= least}


WRONG = [
    (rule, number, example)
    for rule in RULES
    for number, example in enumerate(e for e in examples(rule.page) if e.wrong)
]


@pytest.mark.parametrize(
    ("rule", "number", "example"), WRONG, ids=["{}-{}".format(r.id, n) for r, n, _ in WRONG]
)
def test_a_walk_reads_it(rule, number, example):
    """A file in a folder is parsed when it holds no more than a wrong example and the import."""
    text = "import npu_bridge\n" if "import" in example.text else STAR
    assert may_matter((text + example.text).encode())


def test_a_walk_parses_what_works_with_the_adapter():
    """Whatever it does: troubles of training show in too many forms to be told by words."""
    assert may_matter((STAR + "value = tf.Variable(0)\n").encode())
    assert not may_matter(b"import tensorflow as tf\nvalue = tf.Variable(0)\n")


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize(
    ("rule", "number", "example"), WRONG, ids=["{}-{}".format(r.id, n) for r, n, _ in WRONG]
)
def test_placement(rule, number, example, placement):
    """The rule speaks wherever its wrong example stands, unless a reason is given."""
    assert speaks(rule, example, placement) is ((rule.id, placement) not in EXCEPTIONS)
