"""A parsed script: its nodes with what they see and stand in, and the functions around a line."""

import ast
import textwrap

from npu_config.python_flow.module import Module, sites

SCRIPT = textwrap.dedent(
    """\
    import numpy as np

    rate = 0.5

    class Model(object):
        rate = 0.1

        @property
        def scaled(self):
            return [rate * x for x in self.values if rate]

        def train(self, rate=rate):
            step = lambda loss: loss * rate
            with open("log") as log:
                if self.ready:
                    log.write(rate)
    """
)


def names(module, word):
    """Each place where a name stands, with the kind of what binds it there."""
    lines = module.source.mentions(word)
    for site in sites(module.module, lines, (ast.Name,)):
        if site.node.id == word:
            for scope in site.scope.visible():
                if word in scope.parameters or word in scope.stores:
                    yield site.line, type(scope.node).__name__
                    break


def test_what_a_name_sees():
    """A method does not see the names of its class, and a default is evaluated outside."""
    assert sorted(names(Module(SCRIPT), "rate")) == [
        (3, "Module"),
        (6, "ClassDef"),
        (10, "Module"),
        (10, "Module"),
        (12, "ClassDef"),
        (13, "FunctionDef"),
        (16, "FunctionDef"),
    ]


def test_what_a_comprehension_and_a_lambda_bind():
    """What they run over, or take, is theirs."""
    module = Module(SCRIPT)
    assert {(10, "ListComp")} == set(names(module, "x"))
    assert {(13, "Lambda")} == set(names(module, "loss"))


def test_what_a_node_stands_in():
    """A site knows its statement, its function, the tests that lead to it and what is entered."""
    module = Module(SCRIPT)
    (site,) = (s for s in sites(module.module, [16], (ast.Attribute,)) if s.node.attr == "write")
    assert site.call.func.attr == "write"
    assert site.statement.lineno == 16
    assert site.function.name == "train"
    assert [test.attr for test in site.conditions] == ["ready"]
    assert site.is_conditional
    assert [call.func.id for call in site.entered] == ["open"]
    assert site.inside(ast.With)
    assert not site.inside(ast.For)


def test_statements_of_no_line_are_passed_over():
    """Only the statements that hold one of the lines are walked, wherever they end."""
    text = "a = 1\nb = (2,\n     c.\n     d)\ne = 3\n"
    found = sites(Module(text).module, [4], (ast.Name, ast.Attribute))
    assert [getattr(s.node, "id", None) or s.node.attr for s in found] == ["b", "d", "c"]


def test_functions_around_a_line():
    """The innermost function comes first; outside of all there is none."""
    module = Module("def f():\n    def g():\n        return 1\n    return g\nx = 1\n")
    assert [node.name for _, node in module.functions_around(3)] == ["g", "f"]
    assert module.function_of(5) is None


def test_global_names():
    """Names that functions bind outside, by global or nonlocal."""
    module = Module("def f():\n    global a, b\n    c = 1\n    def g():\n        nonlocal c\n")
    assert {"a", "b", "c"} == module.global_names
