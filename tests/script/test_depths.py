"""How far is looked: through how many bindings, calls and levels of a script each question goes.

A chain is followed to its limit, which keeps a script from costing too much, and no further.
"""

import pytest

from npu_config.python_flow.scopes import literal
from npu_config.script.checks._check import Context
from npu_config.script.checks.network import _is_cell, _made_by
from npu_config.script.checks.numbers import _named_type
from npu_config.script.checks.pipeline import Initialisers
from npu_config.script.checks.ranks import _Ranks
from npu_config.script.meaning import Meaning
from npu_config.script.script import Script

HEAD = "import functools\nimport numpy as np\nimport tensorflow as tf\n"
VARIABLE = "tf.Variable(1)"
TENSOR = "tf.abs(1)"
CELL = "tf.nn.rnn_cell.LSTMCell(3)"
RANK = "get_rank_id()"


def names(first):
    """Names that are bound to each other."""

    def chain(n):
        bound = ("a{} = a{}\n".format(i + 1, i) for i in range(n))
        return "a0 = {}\n{}ask(a{})".format(first, "".join(bound), n)

    return chain


def functions(first):
    """Functions that return what others return."""

    def chain(n):
        more = ("def f{}():\n    return f{}()\n".format(i + 1, i) for i in range(n))
        return "def f0():\n    return {}\n{}ask(f{}())".format(first, "".join(more), n)

    return chain


def attributes(first):
    """Attributes that are bound to each other."""

    def chain(n):
        more = ("        self.a{} = self.a{}\n".format(i + 1, i) for i in range(n))
        head = "class A:\n    def g(self):\n        self.a0 = {}\n".format(first)
        return "{}{}        ask(self.a{})".format(head, "".join(more), n)

    return chain


def lists(first):
    """Lists that the one before is added to."""

    def chain(n):
        more = ("a{1} = []\na{1}.append(a{0})\n".format(i, i + 1) for i in range(n))
        return "a0 = {}\n{}ask(a{})".format(first, "".join(more), n)

    return chain


def items(first):
    """Lists that hold the one item that the next takes."""

    def chain(n):
        more = ("b{0} = [a{0}]\na{1} = b{0}[0]\n".format(i, i + 1) for i in range(n))
        return "a0 = {}\n{}ask(a{})".format(first, "".join(more), n)

    return chain


def makers(n):
    """Functions that return functions."""
    more = ("def f{}():\n    return f{}\n".format(i + 1, i) for i in range(n))
    return "def f0():\n    return 1\n{}ask(f{}{})".format("".join(more), n, "()" * n)


def loops(n):
    """Loops over a tuple of one item."""
    more = ("for a{} in (a{},):\n    pass\n".format(i + 1, i) for i in range(n))
    return "a0 = lambda: 1\n{}ask(a{})".format("".join(more), n)


def around(first, before, behind=""):
    """An expression with the same around it, again and again."""
    return lambda n: "v = {}\nask({}v{})".format(first, before * n, behind * n)


def gives(node):
    """Whether a node is the number 7."""
    return literal(getattr(node, "node", node)) == 7


def value(meaning, scope, node):
    """Whether an expression is bound to 7."""
    return gives(meaning.value(scope, node))


def result(meaning, scope, node):
    """Whether an expression gives 7."""
    return gives(meaning.result(scope, node))


def parts(meaning, scope, node):
    """Whether an expression is made of 7."""
    return any(map(gives, meaning.parts(scope, node)))


def context(meaning):
    """A context of the same script."""
    return Context(meaning.script, [], meaning=meaning)


def initialises(meaning, scope, node):
    """What a run of an expression initialises."""
    return Initialisers(context(meaning)).of(scope, node)


def depends(meaning, scope, node):
    """Whether an expression depends on the rank."""
    return _Ranks(context(meaning)).depends(scope, node)


def operator(meaning, scope, node):
    """What operator a function makes."""
    return _made_by(meaning, meaning.functions(scope, node.func)[0])


def runs(n):
    """Functions that return what a session runs of the next."""
    more = ("def f{}(sess):\n    return sess.run(f{}(sess))\n".format(i + 1, i) for i in range(n))
    return "def f0(sess):\n    return tf.abs(1)\n{}ask(f{}(sess))".format("".join(more), n)


INITIALISER = "tf.global_variables_initializer()"
CHAINS = [
    (Meaning.name, names("np"), 11),
    (value, names("7"), 12),
    (value, items("7"), 6),
    (Meaning.constant, names("7"), 12),
    (Meaning.constant, around("7", "-(", ")"), 11),
    (Meaning.constant, around("7", "int(", ")"), 11),
    (Meaning.constant, around("7", "(", " + 1)"), 11),
    (Meaning.constant, around("7", "(1 + ", ")"), 11),
    (result, names("7"), 12),
    (result, functions("7"), 3),
    (Meaning.functions, names("lambda: 1"), 11),
    (Meaning.functions, around("lambda: 1", "functools.partial(", ", 1)"), 11),
    (Meaning.functions, makers, 4),
    (Meaning.functions, functions("print_it\ndef print_it():\n    pass"), 3),
    (Meaning.functions, loops, 11),
    (Meaning.variable, names(VARIABLE), 12),
    (Meaning.variable, functions(VARIABLE), 9),
    (Meaning.variable, around(VARIABLE, "(", " + 1)"), 11),
    (Meaning.variable, around(VARIABLE, "(1 + ", ")"), 11),
    (Meaning.variable, around(VARIABLE, "tf.abs(", ")"), 11),
    (Meaning.variable, around(VARIABLE, "", ".value()"), 11),
    (Meaning.is_tensor, names(TENSOR), 11),
    (Meaning.is_tensor, functions(TENSOR), 9),
    (Meaning.is_tensor, attributes(TENSOR), 11),
    (Meaning.is_tensor, around(TENSOR, "(", " + 1)"), 11),
    (Meaning.is_tensor, around(TENSOR, "(1 + ", ")"), 11),
    (Meaning.is_tensor, around(TENSOR, "(-", ")"), 11),
    (Meaning.is_tensor, around(TENSOR, "", "[0]"), 11),
    (Meaning.is_one_tensor, names(TENSOR), 11),
    (parts, names("7"), 11),
    (parts, functions("7"), 15),
    (parts, attributes("7"), 11),
    (parts, lists("7"), 11),
    (initialises, names(INITIALISER), 11),
    (initialises, functions(INITIALISER), 5),
    (initialises, attributes(INITIALISER), 11),
    (initialises, lists(INITIALISER), 11),
    (initialises, around(INITIALISER, "[", "]"), 11),
    (initialises, around(INITIALISER, "tf.group(", ")"), 11),
    (initialises, around(INITIALISER, "(", " + [])"), 11),
    (initialises, around(INITIALISER, "list(", ")"), 11),
    (depends, names(RANK), 7),
    (depends, functions(RANK), 1),
    (depends, attributes(RANK), 7),
    (depends, around(RANK, "not (", ")"), 7),
    (depends, around(RANK, "int(", ")"), 7),
    (_is_cell, names(CELL), 7),
    (_is_cell, functions(CELL), 7),
    (_is_cell, around(CELL, "[", "]"), 7),
    (_is_cell, around(CELL, "tf.nn.rnn_cell.DropoutWrapper(", ")"), 7),
    (_named_type, names("tf.float64"), 11),
    (operator, runs, 3),
]


def reaches(question, text):
    """Whether a question to what ``ask`` is given finds something."""
    meaning = Meaning(Script(HEAD + text))
    (site,) = meaning.calls("ask")
    return bool(question(meaning, site.scope, site.node.args[0]))


@pytest.mark.parametrize(("question", "chain", "deepest"), CHAINS)
def test_depth(question, chain, deepest):
    """A chain is followed up to its limit."""
    found = [number for number in range(25) if reaches(question, chain(number))]
    assert found == list(range(deepest + 1))
