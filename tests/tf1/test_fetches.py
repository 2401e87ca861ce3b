"""What fetches mean in a session, and what is remembered of it."""

import pytest

pytest.importorskip("tensorflow")

from npu_config.tf1.purpose import fetched
from npu_config.tf1.tensorflow import tf

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def session():
    """A session of a graph with ``x``, ``text`` and the operation ``go``."""
    with tf.Graph().as_default():
        tf.constant(1.0, name="x")
        tf.constant("a", name="text")
        tf.no_op("go")
        with tf.Session() as made:
            yield made


def names(nodes):
    """Names of operations and tensors."""
    return [node.name for node in nodes]


def test_operations_of_any_structure(session):
    """Lists, tuples, dictionaries and names mean operations; a round leaves text out."""
    graph = session.graph
    x, text = graph.get_tensor_by_name("x:0"), graph.get_tensor_by_name("text:0")
    go = graph.get_operation_by_name("go")
    for fetches in ([go, x, text], (go, [x], {"t": text}), {"a": "go", "b": ["x:0", "text:0"]}):
        found = fetched(session, fetches)
        assert names(found.operations) == ["go", "x", "text"]
        assert names(found.inside) == ["go", "x:0"]
        assert fetched(session, fetches) is found


def test_what_is_refused_is_asked_again(session):
    """A name means nothing before its operation is made, and something afterwards."""
    assert fetched(session, ["later"]).operations == []
    with session.graph.as_default():
        tf.no_op("later")
    assert names(fetched(session, ["later"]).operations) == ["later"]


def test_facts_are_found_once_until_the_graph_grows(session):
    """The same operations share their facts, however they are fetched."""
    asked = []

    def count(operations):
        asked.append(names(operations))
        return len(asked)

    x = session.graph.get_tensor_by_name("x:0")
    assert [fetched(session, each).fact(count) for each in (x, [x], "x:0")] == [1, 1, 1]
    with session.graph.as_default():
        tf.no_op()
    assert fetched(session, x).fact(count) == 2


def test_other_kinds_are_looked_up_each_time(session):
    """A sparse tensor is fetched as its parts."""
    with session.graph.as_default():
        sparse = tf.SparseTensor([[0]], tf.identity([1.0], name="values"), [1])
    assert "values" in names(fetched(session, [sparse]).operations)


def test_what_stands_behind_a_variable_is_given(session):
    """A fetch of another kind ends nothing: what runs differ in may come after it."""
    with session.graph.as_default():
        variable = tf.Variable(1.0)
    for fetches in ([variable, "x:0"], {"a": variable, "b": "x:0"}, [[variable], "x:0"]):
        assert fetched(session, fetches).given == [variable, "x:0"]


def test_memory_is_bounded(session):
    """Very many different fetches do not fill it."""
    with session.graph.as_default():
        nodes = [tf.no_op() for _ in range(600)]
    for node in nodes:
        fetched(session, node)
    assert len(session._npu_config_fetches) < 300
