"""What holds for every script: inverse edits, a second run, the spans, hostile texts."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import npu_config
from npu_config.core.diagnostics import Edit
from npu_config.migration import engine
from npu_config.migration.names import Interest
from npu_config.migration.resolve import Resolver
from npu_config.migration.work import end_of_import
from tests.migrate.test_cases import NAMES, text

FRAGMENTS = (
    "sess = tf.Session()",
    "sess = tf.Session('', None, config)",
    "with tf.Session(graph=(g), ) as s: pass",
    "sess = tf.Session(\n    graph=g,  # a comment\n)",
    "e = tf.estimator.Estimator(model_fn,\n\tparams={'a': 1})",
    "rank = hvd.rank(); size = hvd.size()",
    "hvd.init()",
    "if hvd.rank() == 0: print('ünï', hvd.size())",
    "opt = hvd.DistributedOptimizer(\n    opt,  # kept\n    name='d',\n)",
    "x = hvd.allreduce(x, average=False)",
    "y = tf.nn.dropout(x, rate=(a + b))",
    "y = tf.nn.dropout(x, 0.5)  # tf.nn.dropout(x, 0.5)",
    "ds = tf.data.Dataset.range(3).repeat().batch(2,)",
    "config.graph_options.rewrite_options.remapping = RewriterConfig.ON",
    "text = '''\ntf.Session()\n'''",
    "def f(tf):\n    return tf.Session()",
    "print(f'{hvd.rank()} of {hvd.size()}')",
    "lam = lambda: tf.Session(config=tf.ConfigProto())",
    "q = tf.train.batch([a], 2, num_threads=4)",
    "util = 3",
    "tf.app.run()",
)
PLAIN = "import tensorflow as tf\nimport horovod.tensorflow as hvd"
FUTURE = """\
'''Doc.'''
from __future__ import print_function
import os, horovod.tensorflow as hvd
import tensorflow.compat.v1 as tf"""
CONDITIONAL = """\
try:
    import tensorflow as tf
except ImportError:
    tf = None
import horovod.tensorflow as hvd"""
HEADS = (PLAIN, FUTURE, CONDITIONAL)
PROGRAMS = st.builds(
    lambda head, body, newline: (head + "\n" + "\n".join(body) + "\n").replace("\n", newline),
    st.sampled_from(HEADS),
    st.lists(st.sampled_from(FRAGMENTS), max_size=6),
    st.sampled_from(["\n", "\r\n", "\r"]),
)


def offsets(source, edit):
    """Where an edit begins and ends."""
    script = Resolver(source, None, Interest(()), False)
    return script.offset(edit.line, edit.column), script.offset(edit.end_line, edit.end_column)


def applied(source, edits):
    """The text with some edits done."""
    parts, done = [], 0
    for edit in edits:
        start, end = offsets(source, edit)
        assert done <= start <= end
        parts += [source[done:start], edit.text]
        done = end
    return "".join([*parts, source[done:]])


def inverse(source, migration):
    """The edits of the migrated text that give the source back."""
    script, shift, found = Resolver(migration.text, None, Interest(()), False), 0, []
    for edit in migration.edits:
        start, end = offsets(source, edit)
        first = script.position(start + shift)
        last = script.position(start + shift + len(edit.text))
        found.append(Edit(*first, *last, source[start:end]))
        shift += len(edit.text) - (end - start)
    return found


def holds(source):
    """The properties of one script."""
    migration = npu_config.migrate(source)
    ast.parse(migration.text)
    assert migration.text == applied(source, migration.edits)
    assert source == applied(migration.text, inverse(source, migration))
    assert npu_config.migrate(migration.text).text == migration.text
    lines = len(Resolver(source, None, Interest(()), False).source.lines)
    assert all(1 <= note.line <= lines for note in migration.notes)
    assert bool(migration.edits) == (migration.text != source)


@given(PROGRAMS)
def test_programs(source):
    """Whatever stands in a script."""
    holds(source)


@pytest.mark.parametrize("name", [name for name in NAMES if "python2" not in name])
def test_cases(name):
    """The same for the cases."""
    holds(text(name, "before.py"))


@given(st.text())
def test_any_text(source):
    """Any text at all: no edit, or a result that parses."""
    migration = npu_config.migrate("import tensorflow as tf\n" + source)
    if migration.edits:
        ast.parse(migration.text)


@given(st.binary())
def test_any_bytes(source):
    """Bytes that are not text are refused, with one reason."""
    migration = npu_config.migrate(b"import tensorflow\n" + source)
    assert migration.status in ("refused", "unchanged")
    assert len(migration.notes) <= 1


@pytest.mark.parametrize(
    ("source", "line", "reason"),
    [
        (
            b"import tensorflow\nx = '\xff'\n",
            2,
            "not text: the byte 0xff in line 2 is not valid UTF-8",
        ),
        (b"\xffimport tensorflow", 1, "not text: the byte 0xff in line 1 is not valid UTF-8"),
        (b"# coding: none\nimport tensorflow\n", 1, 'not text: the encoding "none" is not known'),
        ("import tensorflow\n\nprint 'x'\n", 3, "Python 2: convert it with 2to3 first"),
        ("import tensorflow\nx = = 1\n", 2, "this code cannot be analysed as Python 3: "),
    ],
)
def test_where_it_cannot_be_read(source, line, reason):
    """The line and the reason are said, and nothing is edited."""
    migration = npu_config.migrate(source)
    (note,) = migration.notes
    assert (migration.status, note.line, migration.edits) == ("refused", line, ())
    assert note.note.startswith(reason)


HOSTILE = {
    "brackets": "(" * 5000 + "1" + ")" * 5000,
    "signs": "-" * 50000 + "1",
    "sums": "+".join(["1"] * 50000),
    "attributes": "a" + ".b" * 50000,
    "calls": "a" + "()" * 50000,
    "lambdas": "lambda: " * 20000 + "1",
    "sessions": "tf.Session(" * 80 + ")" * 80,
    "batches": "tf.data.Dataset.range(3)" + ".batch(3)" * 200,
    "members": "tf" + ".Session" * 5000,
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_expressions(name):
    """Expressions that are nested beyond all measure: an answer, and no crash."""
    migration = npu_config.migrate("import tensorflow as tf\nx = {}\n".format(HOSTILE[name]))
    assert migration.status in ("changed", "unchanged", "refused")


def test_what_is_nested_too_deeply(monkeypatch):
    """One reason on the first line, where Python gives up."""

    def fail(*arguments):
        raise RecursionError

    monkeypatch.setattr(engine, "_analyse", fail)
    found = npu_config.migrate("import tensorflow as tf\n")
    (note,) = found.notes
    assert (note.line, note.id, note.kind) == (1, "syntax-error", "refused")
    assert found.is_blocked


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"import tensorflow\nx = '\xff'\n", 2),
        (b"# coding: nothing\nimport tensorflow\n", 1),
        (b"import tensorflow\nx = [\n", 2),
        (b"import tensorflow\n\0", 1),
    ],
)
def test_the_line_that_cannot_be_read(data, line):
    """Where it is known; else the first."""
    assert [note.line for note in npu_config.migrate(data).notes] == [line]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("import a", ""),
        ("import a as b, \\\n    c.d", "  # e\n"),
        ("from a import b \\\r\n    as c", "; d\r\n"),
        ("from a import (  # (\n    b,\n    c  # ]\n)", "\nimport d\n"),
        ("from a import (  # (\n    b)", "\nimport d\n"),
        ("from a import (b  # )\n    , c)", "  # )\nimport d\n"),
    ],
)
def test_where_an_import_ends(text, rest):
    """The end of an import is found by its text on Python 3.7, where the tree does not say it."""
    assert end_of_import(text + rest, 0) == len(text)


def test_many_stores_of_a_name():
    """A name that is bound to itself thousands of times is looked at once."""
    source = "import tensorflow as tf\n" + "tf = tf.compat.v1\n" * 3000 + "s = tf.Session()\n"
    assert "npu_config_proto" in npu_config.migrate(source).text
