"""Loops against what the vendor's functions did to real graphs (``graph_behaviour.jsonl``).

Valid input: the same operations, variables, collections and loaded values.  Invalid input: an
error at the call, and nothing left in the graph.  What is different on purpose is in
``tests/data/tf1/deviations.json``, with the reason.
"""

import warnings

import pytest

from tests.tf1.support import (
    Model,
    collections,
    deviations,
    loop_values,
    operations,
    variables,
    vectors,
)

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.tensorflow

VECTORS = {vector["id"]: vector for vector in vectors("graph_behaviour.jsonl")}

DIFFERENT = deviations()["graph_behaviour"]
"""Vectors that are answered otherwise on purpose, with the reason."""


def ids(prefix):
    """The vectors of one function."""
    return [name for name in VECTORS if name.startswith(prefix)]


def new_operations(graph, before):
    """The operations that were not there before."""
    known = {operation["name"] for operation in before}
    return [operation for operation in operations(graph) if operation["name"] not in known]


def assert_same_graph(expected, graph, before, tensorflow):
    """New operations, variables and collections are those of the vector."""
    if "new_ops" in expected and tensorflow.__version__.startswith("1."):
        assert expected["new_ops"] == new_operations(graph, before)
    if "variables" in expected and tensorflow.__version__.startswith("1."):
        assert expected["variables"] == variables(graph)
    assert expected["collections"] == collections(graph)


def count_of(vector):
    """The number of iterations that a vector describes."""
    n = vector["input"]["n"]
    if isinstance(n, str) and n.startswith("numpy."):
        kind, _, value = n[len("numpy.") :].rstrip(")").partition("(")
        return getattr(numpy, kind)(int(value))
    return n


def train_op_of(kind, model):
    """The training operation that a vector describes."""
    tf = model.tf
    makers = {
        "operation": lambda: model.train_op,
        "tensor": lambda: model.loss,
        "int_tensor": lambda: tf.constant(1),
        "assign_tensor": lambda: tf.assign_add(model.x, 1.0),
        "variable": lambda: model.x,
        "resvar": lambda: tf.Variable(1.0, use_resource=True),
        "none": lambda: None,
        "str": lambda: "GradientDescent",
        "list": lambda: [model.train_op],
        "group": lambda: tf.group(
            model.train_op, tf.assign_add(tf.Variable(0.0, name="y"), 1.0).op
        ),
        "noop": lambda: tf.no_op(),
        "lambda": lambda: lambda: model.train_op,
    }
    return makers[kind]()


@pytest.mark.parametrize("name", ids("set_iteration_per_loop/n="))
def test_counts(name, tensorflow, tf):
    """``set_iteration_per_loop`` does with each number what the original does."""
    from npu_config.tf1.loops import set_iteration_per_loop

    vector = VECTORS[name]
    model = Model(tf)
    session = model.session()
    before = operations(model.graph)
    arguments = [] if vector["input"]["n"] == "DEFAULT" else [count_of(vector)]
    if "error" in vector:
        expected = {"TypeError": TypeError, "ValueError": ValueError}[vector["error"]["type"]]
        with pytest.raises(expected):
            set_iteration_per_loop(session, model.train_op, *arguments)
        assert before == operations(model.graph)
        return
    expected = vector["result"]
    returned = set_iteration_per_loop(session, model.train_op, *arguments)
    assert expected["returns_train_op_itself"] == (returned is model.train_op)
    assert expected["returned"]["name"] == returned.name
    assert_same_graph(expected, model.graph, before, tensorflow)
    assert expected["values_after_load"] == loop_values(session)
    session.run(returned)
    assert expected["values_after_run"] == loop_values(session)
    assert expected["x_after_one_run_of_returned_op"] == pytest.approx(session.run(model.x))


@pytest.mark.parametrize("name", ids("set_iteration_per_loop/train_op="))
def test_training_operations(name, tensorflow, tf):
    """What is no operation is refused, operations of every sort are taken."""
    from npu_config.tf1.loops import set_iteration_per_loop

    vector = VECTORS[name]
    model = Model(tf)
    train_op = train_op_of(vector["input"]["train_op"], model)
    session = model.session()
    before = operations(model.graph)
    if "error" in vector:
        with pytest.raises(ValueError, match="NPU840"):
            set_iteration_per_loop(session, train_op, vector["input"]["n"])
        assert before == operations(model.graph)
        return
    returned = set_iteration_per_loop(session, train_op, vector["input"]["n"])
    assert vector["result"]["returns_train_op_itself"] == (returned is train_op)
    assert_same_graph(vector["result"], model.graph, before, tensorflow)


@pytest.mark.parametrize("name", ids("set_iteration_per_loop/ctx="))
def test_contexts(name, tensorflow, tf):
    """The loop is built from within scopes; its names are those of the runtime everywhere."""
    from npu_config.tf1.loops import set_iteration_per_loop

    model = Model(tf)
    session = model.session()
    context = {
        "name_scope": lambda: tf.name_scope("outer"),
        "variable_scope": lambda: tf.variable_scope("outer"),
        "control_deps": lambda: tf.control_dependencies([model.loss]),
        "default_session": session.as_default,
    }[VECTORS[name]["input"]["context"]]
    before = operations(model.graph)
    with context():
        returned = set_iteration_per_loop(session, model.train_op, 10)
    expected = VECTORS[name]["result"]
    assert returned.name == "IterationOp"
    if name in DIFFERENT:
        plain = VECTORS["set_iteration_per_loop/n=10"]["result"]
        assert_same_graph(plain, model.graph, before, tensorflow)
    else:
        assert_same_graph(expected, model.graph, before, tensorflow)
        assert expected["values_after_load"] == loop_values(session)


@pytest.mark.parametrize("name", ids("set_iteration_per_loop/sess="))
def test_sessions(name, tf):
    """A session that cannot be loaded is refused when there is something to load."""
    from npu_config.tf1.loops import set_iteration_per_loop

    vector = VECTORS[name]
    model = Model(tf)
    session = {"closed": model.session(), "str": "session"}.get(vector["input"]["sess"])
    if vector["input"]["sess"] == "closed":
        session.close()
    elif vector["input"]["sess"] == "othergraph":
        session = tf.Session(graph=tf.Graph())
    before = operations(model.graph)
    if "error" in vector:
        with pytest.raises((RuntimeError, ValueError), match="NPU844"):
            set_iteration_per_loop(session, model.train_op, vector["input"]["n"])
    else:
        returned = set_iteration_per_loop(session, model.train_op, vector["input"]["n"])
        assert vector["result"]["returned"]["name"] == returned.name
    assert before == operations(model.graph)


def test_default_graph_differs(tf):
    """A training operation of another graph is refused, without a trace in either."""
    from npu_config.tf1.loops import set_iteration_per_loop

    model = Model(tf)
    session = model.session()
    before = operations(model.graph)
    with tf.Graph().as_default() as other:
        with pytest.raises(RuntimeError, match="NPU843"):
            set_iteration_per_loop(session, model.train_op, 10)
        assert other.get_operations() == []
    assert before == operations(model.graph)


def test_variable_of_the_same_name(tensorflow, tf):
    """A variable that ``tf.get_variable`` made under the name of the loop's is used."""
    from npu_config.tf1.loops import set_iteration_per_loop

    expected = VECTORS["set_iteration_per_loop/preexisting_var_same_name"]["result"]
    tf.get_variable(
        "npu_runconfig/iterations_per_loop",
        shape=[],
        dtype=tf.int64,
        initializer=tf.zeros_initializer(),
        trainable=False,
        use_resource=False,
    )
    model = Model(tf)
    session = model.session()
    set_iteration_per_loop(session, model.train_op, 10)
    values = {name: int(session.run(name + ":0")) for name in sorted(expected["values"])[:1]}
    assert values == {"npu_runconfig/iterations_per_loop": 9}
    assert set(expected["collections"]) == set(collections(model.graph))


def test_variable_of_the_same_name_and_another_type(tf):
    """A variable of another type under the name of the loop's is refused; nothing is added."""
    from npu_config.tf1.loops import set_iteration_per_loop

    tf.get_variable("npu_runconfig/one", shape=[], dtype=tf.int32, use_resource=False)
    model = Model(tf)
    session = model.session()
    before = operations(model.graph)
    with pytest.raises(ValueError, match="NPU846"):
        set_iteration_per_loop(session, model.train_op, 10)
    assert before == operations(model.graph)


@pytest.mark.parametrize("name", ids("IterationPerLoop/load_"))
def test_two_steps(name, tensorflow, tf):
    """``IterationPerLoop`` creates and loads what the original does."""
    from npu_config.tf1.loops import IterationPerLoop

    vector = VECTORS[name]
    if "loads" not in vector["input"]:
        with pytest.raises(RuntimeError, match="NPU845"):
            IterationPerLoop().load_iteration_per_loop_var(tf.Session(), 10)
        return
    model = Model(tf)
    session = model.session()
    before = operations(model.graph)
    loop = IterationPerLoop()
    returned = loop.create_iteration_per_loop_var(model.train_op)
    loads = vector["input"]["loads"]
    loads = [()] if loads == "default" else [(load,) for load in loads]
    if vector["input"].get("finalize"):
        model.graph.finalize()
    built = operations(model.graph)
    if "error" in vector or name in DIFFERENT:
        with pytest.raises((TypeError, ValueError), match="NPU841"):
            loop.load_iteration_per_loop_var(session, *loads[0])
        assert built == operations(model.graph)
        return
    expected = vector["result"]
    assert expected["returned"]["name"] == returned.name
    assert_same_graph(expected, model.graph, before, tensorflow)
    for load in loads:
        assert loop.load_iteration_per_loop_var(session, *load) is None
        key = "values_after_load_{}".format(repr(load[0]) if load else "'DEFAULT'")
        assert expected[key] == loop_values(session)
    assert built == operations(model.graph)
    session.run(returned)
    assert expected["x_after_run"] == pytest.approx(session.run(model.x))


def test_two_steps_beside_a_global_step(tensorflow, tf):
    """With a global step the loop variables are placed beside it."""
    from npu_config.tf1.loops import IterationPerLoop

    expected = VECTORS["IterationPerLoop/with_global_step"]["result"]
    model = Model(tf)
    tf.train.get_or_create_global_step()
    before = operations(model.graph)
    IterationPerLoop().create_iteration_per_loop_var(model.train_op)
    if tensorflow.__version__.startswith("1."):
        assert expected["new_ops"] == new_operations(model.graph, before)


@pytest.mark.parametrize("name", ["IterationPerLoop/create_none", "IterationPerLoop/create_list"])
def test_creating_for_no_operation(name, tf):
    """Creating the loop of what is no operation is refused."""
    from npu_config.tf1.loops import IterationPerLoop

    model = Model(tf)
    before = operations(model.graph)
    train_op = train_op_of(VECTORS[name]["input"]["train_op"], model)
    with pytest.raises(ValueError, match="NPU840"):
        IterationPerLoop().create_iteration_per_loop_var(train_op)
    assert before == operations(model.graph)


def test_creating_in_a_finalized_graph(tf):
    """Creating the loop in a finalized graph is refused."""
    from npu_config.tf1.loops import IterationPerLoop

    model = Model(tf)
    model.graph.finalize()
    with pytest.raises(RuntimeError, match="NPU843"):
        IterationPerLoop().create_iteration_per_loop_var(model.train_op)


HOOK_COUNTS = {
    "n=-1": -1,
    "n=False": False,
    "n=None": None,
    "n=1.5": 1.5,
    "n=10.0": 10.0,
}


@pytest.mark.parametrize("name", sorted(HOOK_COUNTS))
def test_hook_with_no_count(name):
    """``SetIterationsVarHook`` refuses what is no number of iterations when it is made."""
    pytest.importorskip("tensorflow")
    from npu_config.tf1.hooks import SetIterationsVarHook

    with pytest.raises((TypeError, ValueError), match="NPU841"):
        SetIterationsVarHook(HOOK_COUNTS[name])
    with pytest.raises(TypeError, match="NPU841"):
        SetIterationsVarHook()


@pytest.mark.parametrize(
    "name", ["SetIterationsVarHook/direct,n=1", "SetIterationsVarHook/direct,n=10,finalized"]
)
def test_hook_called_directly(name, tensorflow, tf):
    """The hook creates and loads what the original does."""
    from npu_config.tf1.hooks import SetIterationsVarHook

    vector = VECTORS[name]
    model = Model(tf, global_step=True)
    session = model.session()
    before = operations(model.graph)
    hook = SetIterationsVarHook(vector["input"]["n"])
    hook.begin()
    expected = vector["result"]
    if tensorflow.__version__.startswith("1."):
        assert expected["ops_added_by_begin"] == new_operations(model.graph, before)
    built = operations(model.graph)
    if name.endswith("finalized"):
        model.graph.finalize()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hook.after_create_session(session, None)
    assert (vector["input"]["n"] > 1) == any("NPU847" in str(one.message) for one in caught)
    assert built == operations(model.graph)
    assert expected["values"] == loop_values(session)


@pytest.mark.parametrize("kind", ["monitored", "training"])
def test_hook_in_a_session(kind, tensorflow, tf):
    """In a MonitoredSession the loop is loaded before the first run."""
    from npu_config.tf1.hooks import SetIterationsVarHook
    from npu_config.tf1.session import patch_sessions

    expected = VECTORS["SetIterationsVarHook/session={},n=10".format(kind)]["result"]
    patch_sessions()
    model = Model(tf, global_step=True)
    train_op = tf.group(model.train_op, name="IterationOp")
    make = {"monitored": tf.train.MonitoredSession, "training": tf.train.MonitoredTrainingSession}
    with pytest.warns(UserWarning, match="NPU847"):
        session = make[kind](hooks=[SetIterationsVarHook(10)])
    with session:
        assert expected["values_after_create"] == loop_values(session._tf_sess())
        session.run(train_op)
        session.run(train_op)
        assert expected["values_after_run"] == loop_values(session._tf_sess())
        assert expected["global_step"] == session.run(model.global_step)
        assert expected["x"] == pytest.approx(session.run(model.x))
        names = [
            entry.name
            for entry in session._tf_sess()._config.graph_options.rewrite_options.custom_optimizers
        ]
        assert expected["session_config"]["custom_optimizers"] == names


def test_hook_out_of_order(tf):
    """Loading without ``begin``, and ``begin`` in a finalized graph, are refused."""
    from npu_config.tf1.hooks import SetIterationsVarHook

    model = Model(tf, global_step=True)
    session = model.session()
    with pytest.raises(RuntimeError, match="NPU845"):
        SetIterationsVarHook(10).after_create_session(session, None)
    model.graph.finalize()
    with pytest.raises(RuntimeError, match="NPU843"):
        SetIterationsVarHook(10).begin()


def test_hook_after_set_iteration_per_loop(tf):
    """The hook reuses the loop variables of the graph, and loads its own number."""
    from npu_config.tf1.hooks import SetIterationsVarHook
    from npu_config.tf1.loops import set_iteration_per_loop

    name = "SetIterationsVarHook/after_set_iteration_per_loop_same_graph"
    expected = VECTORS[name]["result"]
    model = Model(tf)
    session = model.session()
    set_iteration_per_loop(session, model.train_op, 10)
    before = operations(model.graph)
    hook = SetIterationsVarHook(5)
    hook.begin()
    assert before == operations(model.graph)
    hook.after_create_session(session, None)
    assert expected["values"] == loop_values(session)


def test_every_difference_is_a_vector():
    """The list of differences names vectors, and no vector twice."""
    assert set(DIFFERENT) <= set(VECTORS)
