"""Loops beyond the original: repeated calls, contradictions, initialisers that run afterwards."""

import gc
import warnings
import weakref

import pytest

from tests.tf1.support import Model, loop_values, operations

pytestmark = pytest.mark.tensorflow


def loaded(session):
    """The number of iterations that a session is loaded with."""
    return loop_values(session)["npu_runconfig/iterations_per_loop"] + 1


def test_repeated_calls_give_one_operation(model):
    """Called again with other numbers, the same IterationOp comes back, loaded anew."""
    from npu_config.tf1 import set_iteration_per_loop

    session = model.session()
    first = set_iteration_per_loop(session, model.train_op, 10)
    built = operations(model.graph)
    for count in (5, 10, 3):
        assert set_iteration_per_loop(session, model.train_op, count) is first
        assert count == loaded(session)
    assert set_iteration_per_loop(session, first, 7) is first
    assert loaded(session) == 7
    assert built == operations(model.graph)


def test_back_to_one(model):
    """Going from 10 to 1 gives the training operation back and sets the loop to one iteration."""
    from npu_config.tf1 import set_iteration_per_loop

    session = model.session()
    looped = set_iteration_per_loop(session, model.train_op, 10)
    assert set_iteration_per_loop(session, model.train_op, 1) is model.train_op
    assert {name.split("/")[1]: value for name, value in loop_values(session).items()} == {
        "iterations_per_loop": 0,
        "loop_cond": 0,
        "zero": 0,
        "one": 1,
    }
    assert set_iteration_per_loop(session, looped, 1) is looped


def test_a_second_training_operation(tf, model):
    """A loop for another operation is refused: its IterationOp_1 would never be found."""
    from npu_config.tf1 import set_iteration_per_loop

    session = model.session()
    set_iteration_per_loop(session, model.train_op, 10)
    with pytest.raises(RuntimeError, match=r"NPU846.*\n.*tf\.group"):
        set_iteration_per_loop(session, tf.no_op(), 10)
    assert loaded(session) == 10


def test_an_iteration_op_of_the_user(tf, model):
    """An IterationOp that the script grouped itself is used."""
    from npu_config.tf1 import set_iteration_per_loop

    own = tf.group(model.train_op, name="IterationOp")
    session = model.session()
    assert set_iteration_per_loop(session, model.train_op, 10) is own


def test_every_argument_at_once(model):
    """Two wrong arguments give two findings, and the type that fits both."""
    from npu_config.tf1 import set_iteration_per_loop

    with pytest.raises(TypeError) as caught:
        set_iteration_per_loop(model.session(), model.loss, "10")
    assert [finding.rule for finding in caught.value.diagnostics] == ["NPU840", "NPU841"]
    assert isinstance(caught.value, ValueError)


def test_what_to_do_is_said(model):
    """A tensor instead of an operation: the message names the remedy."""
    from npu_config.tf1 import set_iteration_per_loop

    with pytest.raises(ValueError, match=r"train_op\.op"):
        set_iteration_per_loop(model.session(), model.loss, 10)


@pytest.mark.parametrize("count", [5, 1])
def test_contradiction_with_the_session(npu_proto, model, count):
    """A number that contradicts the session's own is an error that names both."""
    from npu_config.tf1 import IterationPerLoop, SetIterationsVarHook, set_iteration_per_loop

    session = model.session(config=npu_proto(iterations_per_loop=10))
    before = operations(model.graph)
    with pytest.raises(RuntimeError, match="NPU842") as caught:
        set_iteration_per_loop(session, model.train_op, count)
    assert "{} iterations".format(count) in str(caught.value)
    assert "iterations_per_loop 10" in str(caught.value)
    assert before == operations(model.graph)
    loop = IterationPerLoop()
    loop.create_iteration_per_loop_var(model.train_op)
    with pytest.raises(RuntimeError, match="NPU842"):
        loop.load_iteration_per_loop_var(session, count)
    hook = SetIterationsVarHook(count)
    hook.begin()
    with pytest.raises(RuntimeError, match="NPU842"):
        hook.after_create_session(session, None)


def test_agreement_with_the_session(npu_proto, model):
    """The number that the session declares is loaded, without a word."""
    from npu_config.tf1 import set_iteration_per_loop

    session = model.session(config=npu_proto(iterations_per_loop=10))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        set_iteration_per_loop(session, model.train_op, 10)
    assert loaded(session) == 10


def test_a_session_that_does_not_declare(npu_proto, model):
    """A session for the NPU without ``iterations_per_loop`` draws a warning."""
    from npu_config.tf1 import set_iteration_per_loop

    session = model.session(config=npu_proto(precision_mode="allow_mix_precision"))
    with pytest.warns(UserWarning, match="NPU847"):
        set_iteration_per_loop(session, model.train_op, 10)


@pytest.mark.parametrize("form", ["operation", "list", "dict", "name", "group", "again"])
def test_local_variables_initializer_afterwards(tf, model, form):
    """Initialising the local variables after the loop was loaded leaves it loaded."""
    from npu_config.tf1 import set_iteration_per_loop

    session = model.session()
    set_iteration_per_loop(session, model.train_op, 10)
    init = tf.local_variables_initializer()
    fetches = {
        "operation": init,
        "list": [model.loss, [init]],
        "dict": {"loss": model.loss, "init": init},
        "name": init.name,
        "group": tf.group(tf.group(model.init, init), tf.no_op()),
        "again": init,
    }[form]
    for _ in range(2 if form == "again" else 1):
        session.run(fetches)
        assert list(loop_values(session).values()) == [9, 0, 0, 1]


def test_local_variables_initializer_after_operation_run(tf, model):
    """``Operation.run`` goes through the session, and is survived too."""
    from npu_config.tf1 import IterationPerLoop

    session = model.session()
    loop = IterationPerLoop()
    loop.create_iteration_per_loop_var(model.train_op)
    loop.load_iteration_per_loop_var(session, 4)
    tf.local_variables_initializer().run(session=session)
    assert loaded(session) == 4


def test_loading_does_not_keep_a_session_alive(model):
    """A session whose loop was loaded goes away with its last reference."""
    from npu_config.tf1 import set_iteration_per_loop

    session = model.session()
    set_iteration_per_loop(session, model.train_op, 10)
    gone = weakref.ref(session)
    session.close()
    gc.disable()
    try:
        del session
        assert gone() is None
    finally:
        gc.enable()


def test_two_sessions_of_one_graph(model):
    """Each session keeps its own number."""
    from npu_config.tf1 import set_iteration_per_loop

    first, second = model.session(), model.session()
    set_iteration_per_loop(first, model.train_op, 10)
    set_iteration_per_loop(second, model.train_op, 3)
    assert [loaded(first), loaded(second)] == [10, 3]


def test_a_wrapped_session(tf):
    """The session inside a MonitoredSession is found, its graph finalized or not."""
    from npu_config.tf1 import IterationPerLoop

    model = Model(tf, global_step=True)
    loop = IterationPerLoop()
    train_op = loop.create_iteration_per_loop_var(model.train_op)
    with tf.train.MonitoredSession() as session:
        loop.load_iteration_per_loop_var(session, 6)
        session.run(train_op)
        assert loaded(session._tf_sess()) == 6


def test_a_finalized_graph_that_has_the_loop(model):
    """In a finalized graph a loop that is there already can be loaded again."""
    from npu_config.tf1 import set_iteration_per_loop

    session = model.session()
    looped = set_iteration_per_loop(session, model.train_op, 10)
    model.graph.finalize()
    assert set_iteration_per_loop(session, model.train_op, 4) is looped
    assert loaded(session) == 4


def test_a_finalized_graph_without_the_loop(model):
    """In a finalized graph the error says to create the loop first."""
    from npu_config.tf1 import set_iteration_per_loop

    session = model.session()
    model.graph.finalize()
    with pytest.raises(RuntimeError, match=r"create_iteration_per_loop_var"):
        set_iteration_per_loop(session, model.train_op, 10)


def test_eager_mode(tensorflow):
    """In eager mode the call is refused, with what to do."""
    from tensorflow.python.eager import context

    from npu_config.tf1 import IterationPerLoop, SetIterationsVarHook, set_iteration_per_loop

    with context.eager_mode():
        with pytest.raises(RuntimeError, match="disable_eager_execution"):
            set_iteration_per_loop(None, None, 10)
        with pytest.raises(RuntimeError, match="NPU849"):
            IterationPerLoop().create_iteration_per_loop_var(None)
        with pytest.raises(RuntimeError, match="NPU849"):
            SetIterationsVarHook(10).begin()


def test_meta_graph(tf, tmp_path):
    """The loop variables survive the export and import of a meta graph as variables."""
    from npu_config.tf1 import IterationPerLoop

    model = Model(tf)
    IterationPerLoop().create_iteration_per_loop_var(model.train_op)
    path = str(tmp_path / "graph.meta")
    tf.train.export_meta_graph(path)
    with tf.Graph().as_default() as imported:
        tf.train.import_meta_graph(path)
        loop = IterationPerLoop()
        train_op = imported.get_operation_by_name("GradientDescent")
        looped = loop.create_iteration_per_loop_var(train_op)
        assert looped.name == "IterationOp"
        with tf.Session() as session:
            loop.load_iteration_per_loop_var(session, 8)
            assert list(loop_values(session).values()) == [7, 0, 0, 1]


def test_variables_are_not_saved(tf, model):
    """Checkpoints do not hold the loop variables."""
    from npu_config.tf1 import IterationPerLoop

    IterationPerLoop().create_iteration_per_loop_var(model.train_op)
    assert [variable.op.name for variable in tf.global_variables()] == ["x"]


class TestStopAtStep:
    """NPUStopAtStepHook."""

    @staticmethod
    def device_steps(tf, total, count, start=0, **stop):
        """Train as the device would: each run advances by the loaded number of iterations."""
        from npu_config.tf1 import NPUStopAtStepHook

        step = tf.train.get_or_create_global_step()
        hook = NPUStopAtStepHook(count, **(stop or {"last_step": total}))
        hook.begin()
        iterations = tf.get_default_graph().get_collection("npu_runconfig_iterations_per_loop")[0]
        train = tf.assign_add(step, iterations + 1)
        sizes = []
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(tf.assign(step, start))
            context = tf.train.SessionRunContext(None, session)
            hook.after_create_session(session, None)
            while not context.stop_requested:
                hook.before_run(context)
                before = session.run(step)
                session.run(train)
                sizes.append(int(session.run(step) - before))
                hook.after_run(context, None)
        return sizes

    def test_short_last_loop(self, tf):
        """Ten steps in loops of four run as 4, 4, 2."""
        assert self.device_steps(tf, 10, 4) == [4, 4, 2]

    def test_even_loops(self, tf):
        """Twelve steps in loops of four run as 4, 4, 4."""
        assert self.device_steps(tf, 12, 4) == [4, 4, 4]

    def test_fewer_steps_than_a_loop(self, tf):
        """Three steps in loops of ten are one loop of three."""
        assert self.device_steps(tf, 3, 10) == [3]

    def test_steps_from_a_checkpoint(self, tf):
        """``num_steps`` counts from where the session starts, ``last_step`` does not."""
        assert self.device_steps(tf, None, 4, start=7, num_steps=5) == [4, 1]

    def test_last_step_from_a_checkpoint(self, tf):
        """With ``last_step`` what was trained before counts."""
        assert self.device_steps(tf, 10, 4, start=7) == [3]

    def test_in_a_monitored_session(self, tf):
        """On the CPU, where a run trains one step, it stops at the same step."""
        from npu_config.tf1 import NPUStopAtStepHook

        model = Model(tf, global_step=True)
        train_op = tf.group(model.train_op, name="IterationOp")
        with tf.train.MonitoredSession(hooks=[NPUStopAtStepHook(4, last_step=6)]) as session:
            while not session.should_stop():
                session.run(train_op)
                step = session._tf_sess().run(model.global_step)
        assert step == 6

    @pytest.mark.parametrize(
        ("arguments", "error"),
        [
            ({"last_step": 10, "num_steps": 10}, ValueError),
            ({}, ValueError),
            ({"last_step": 0}, ValueError),
            ({"last_step": "10"}, TypeError),
        ],
    )
    def test_arguments(self, arguments, error):
        """Exactly one positive number of steps is taken."""
        from npu_config.tf1 import NPUStopAtStepHook

        with pytest.raises(error, match="NPU848"):
            NPUStopAtStepHook(4, **arguments)

    def test_without_a_global_step(self, tf):
        """A graph without a global step is refused."""
        from npu_config.tf1 import NPUStopAtStepHook

        with pytest.raises(RuntimeError, match="get_or_create_global_step"):
            NPUStopAtStepHook(4, last_step=10).begin()


def test_a_number_of_numpys(tf):
    """The hook takes an integer of numpy's, as flags and arrays give them."""
    numpy = pytest.importorskip("numpy")
    from npu_config.tf1 import SetIterationsVarHook

    model = Model(tf, global_step=True)
    tf.group(model.train_op, name="IterationOp")
    session = model.session()
    hook = SetIterationsVarHook(numpy.int64(10))
    hook.begin()
    hook.after_create_session(session, None)
    assert loaded(session) == 10
