"""Loops off the device: a run of n iterations trains what n runs of one iteration train."""

import threading
import warnings

import pytest

from tests.tf1.support import Model, loop_values, vectors

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.tensorflow

BATCHES = 60
LOOP = 10


@pytest.fixture
def looped_proto(npu_proto):
    """The ConfigProto of a session that declares a loop."""

    def make(count=LOOP):
        config = npu_proto(iterations_per_loop=count, enable_data_pre_proc=True)
        rewrite = config.graph_options.rewrite_options
        rewrite.memory_optimization = rewrite.NO_MEM_OPT
        return config

    return make


@pytest.fixture(autouse=True)
def _loops(monkeypatch):
    """The setting is that of the device, whatever a test sets."""
    monkeypatch.setenv("NPU_CONFIG_LOOPS", "device")
    monkeypatch.setenv("NPU_CONFIG_LOOPS_BY", "")


def input_fn(tf, batches=BATCHES):
    """Batches of numbers, the same every time."""
    state = numpy.random.RandomState(0)
    features = state.normal(size=(batches, 8, 3)).astype(numpy.float32)
    labels = state.normal(size=(batches, 8)).astype(numpy.float32)
    return tf.data.Dataset.from_tensor_slices((features, labels))


def train_operation(tf, features, labels, scaled=False):
    """A small network with dropout and momentum; scaled, the first steps overflow."""
    from npu_config.tf1 import ExponentialUpdateLossScaleManager, NPULossScaleOptimizer

    tf.set_random_seed(11)
    step = tf.train.get_or_create_global_step()
    weight = tf.get_variable("weight", [3, 4], initializer=tf.ones_initializer())
    hidden = tf.nn.dropout(tf.matmul(features, weight), rate=0.3, seed=5)
    out = tf.get_variable("out", [4, 1], initializer=tf.ones_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(hidden, out)[:, 0] - labels), name="loss")
    optimizer = tf.train.MomentumOptimizer(0.005, 0.9)
    if scaled:
        manager = ExponentialUpdateLossScaleManager(2.0**125, 9, 1, 2, 0.5)
        optimizer = NPULossScaleOptimizer(optimizer, manager)
    return loss, optimizer.minimize(loss, step)


def variables(session, graph):
    """The values of all global variables by name."""
    collected = graph.get_collection("variables")
    return {variable.op.name: session.run(variable) for variable in collected}


def train_by_session(tf, config, count, runs, scaled, batches, folder):
    """tf.Session and set_iteration_per_loop."""
    from npu_config.tf1 import set_iteration_per_loop

    iterator = tf.data.make_initializable_iterator(input_fn(tf, batches))
    loss, train_op = train_operation(tf, *iterator.get_next(), scaled)
    init = tf.global_variables_initializer()
    with tf.Session(config=config) as session:
        session.run([init, iterator.initializer])
        train_op = set_iteration_per_loop(session, train_op, count)
        losses = []
        try:
            for _ in range(runs):
                losses.append(session.run([train_op, loss])[1])
        except tf.errors.OutOfRangeError:
            losses.append("end")
        return variables(session, session.graph), losses


def train_by_supervisor(tf, config, count, runs, scaled, batches, folder):
    """tf.train.Supervisor and IterationPerLoop."""
    from npu_config.tf1 import IterationPerLoop

    iterator = tf.data.make_initializable_iterator(input_fn(tf, batches))
    loss, train_op = train_operation(tf, *iterator.get_next(), scaled)
    loop = IterationPerLoop()
    train_op = loop.create_iteration_per_loop_var(train_op)
    init = tf.group(tf.global_variables_initializer(), iterator.initializer)
    supervisor = tf.train.Supervisor(logdir=None, init_op=init, summary_op=None, saver=None)
    losses = []
    with supervisor.managed_session(config=config) as session:
        loop.load_iteration_per_loop_var(session, count)
        try:
            for _ in range(runs):
                losses.append(session.run([train_op, loss])[1])
        except tf.errors.OutOfRangeError:
            losses.append("end")
        return variables(session, session.graph), losses


def train_by_monitored_session(tf, config, count, runs, scaled, batches, folder):
    """MonitoredTrainingSession and SetIterationsVarHook."""
    from npu_config.tf1 import SetIterationsVarHook

    iterator = tf.data.make_initializable_iterator(input_fn(tf, batches))
    loss, train_op = train_operation(tf, *iterator.get_next(), scaled)
    train_op = tf.group(train_op, name="IterationOp")
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    losses, values = [], {}

    class Values(tf.train.SessionRunHook):
        """Reads the variables at the end, also when the data ends."""

        def end(self, session):
            values.update(variables(session, session.graph))

    hooks = [SetIterationsVarHook(count), Values()]
    with tf.train.MonitoredTrainingSession(hooks=hooks, config=config) as session:
        for _ in range(runs):
            if session.should_stop():
                break
            try:
                losses.append(session.run([train_op, loss])[1])
            except tf.errors.OutOfRangeError:
                losses.append("end")
                values.update(variables(session._tf_sess(), session.graph))
                break
    return values, losses


def train_by_estimator(tf, config, count, runs, scaled, batches, folder):
    """NPUEstimator."""
    from npu_config.tf1 import NPUEstimator, NPURunConfig

    losses = []

    class Losses(tf.train.SessionRunHook):
        """Counts the runs, and keeps the losses."""

        def before_run(self, run_context):
            return tf.train.SessionRunArgs("loss:0")

        def after_run(self, run_context, run_values):
            losses.append(run_values.results)
            if len(losses) == runs:  # steps that overflow are not counted
                run_context.request_stop()

    def model_fn(features, labels, mode):
        loss, train_op = train_operation(tf, features, labels, scaled)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    config = NPURunConfig(
        model_dir=str(folder / str(count)),
        iterations_per_loop=count,
        save_checkpoints_steps=20,
        tf_random_seed=3,
    )
    estimator = NPUEstimator(model_fn, config=config)
    estimator.train(lambda: input_fn(tf, batches), hooks=[Losses()])
    if runs * count > batches:
        losses.append("end")
    names = [name for name in estimator.get_variable_names() if "npu_runconfig" not in name]
    return {name: estimator.get_variable_value(name) for name in names}, losses


def train_by_interactive_session(tf, config, count, runs, scaled, batches, folder):
    """tf.InteractiveSession, and operations that run themselves."""
    from npu_config.tf1 import set_iteration_per_loop

    session = tf.InteractiveSession(config=config)
    try:
        iterator = tf.data.make_initializable_iterator(input_fn(tf, batches))
        loss, train_op = train_operation(tf, *iterator.get_next(), scaled)
        tf.global_variables_initializer().run()
        iterator.initializer.run()
        train_op = set_iteration_per_loop(session, train_op, count)
        with tf.control_dependencies([train_op]):
            seen = tf.identity(loss)
        return [seen.eval() for _ in range(runs)], variables(session, session.graph)
    finally:
        session.close()


def train_by_restoring(tf, config, count, runs, scaled, batches, folder):
    """Half of the runs in a session, half in another that a checkpoint is restored into."""
    from npu_config.tf1 import set_iteration_per_loop

    losses = []
    for part in range(2):
        with tf.Graph().as_default():
            iterator = tf.data.make_initializable_iterator(input_fn(tf, batches))
            loss, train_op = train_operation(tf, *iterator.get_next(), scaled)
            saver = tf.train.Saver()
            with tf.Session(config=config) as session:
                session.run([tf.global_variables_initializer(), iterator.initializer])
                train_op = set_iteration_per_loop(session, train_op, count)
                if part:
                    saver.restore(session, str(folder / "model"))
                losses += [session.run([train_op, loss])[1] for _ in range(runs // 2)]
                saver.save(session, str(folder / "model"))
                values = variables(session, session.graph)
    return losses, values


def train_by_queues(tf, config, count, runs, scaled, batches, folder):
    """Queues that threads fill, as before there were datasets."""
    from npu_config.tf1 import set_iteration_per_loop

    state = numpy.random.RandomState(0)
    data = [state.normal(size=shape).astype(numpy.float32) for shape in ((480, 3), (480,))]
    queued = tf.train.slice_input_producer(data, shuffle=False)
    loss, train_op = train_operation(tf, *tf.train.batch(queued, 8), scaled)
    coordinator = tf.train.Coordinator()
    with tf.Session(config=config) as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        train_op = set_iteration_per_loop(session, train_op, count)
        threads = tf.train.start_queue_runners(session, coordinator)
        losses = [session.run([train_op, loss])[1] for _ in range(runs)]
        coordinator.request_stop()
        values = variables(session, session.graph)
    coordinator.join(threads)
    return losses, values


WAYS = [
    train_by_session,
    train_by_supervisor,
    train_by_monitored_session,
    train_by_estimator,
]


def train(way, tf, looped_proto, count, runs, folder, scaled=False, batches=BATCHES):
    """Variables and losses after so many runs of so many iterations."""
    from npu_config.tf1 import patch_sessions

    patch_sessions()
    with tf.Graph().as_default(), warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.filterwarnings("ignore", "An unusually high number")
        config = looped_proto(count)
        return way(tf, config, count, runs, scaled, batches, folder)


@pytest.mark.parametrize("scaled", [False, True], ids=["plain", "scaled"])
@pytest.mark.parametrize("way", WAYS)
def test_the_same_weights(way, scaled, tf, looped_proto, tmp_path):
    """Four runs of ten iterations give the weights of forty runs, bit for bit; losses the last."""
    looped, last = train(way, tf, looped_proto, LOOP, 4, tmp_path, scaled)
    single, every = train(way, tf, looped_proto, 1, 4 * LOOP, tmp_path, scaled)
    assert sorted(single) == sorted(looped)
    for name, value in single.items():
        assert value.tobytes() == looped[name].tobytes(), name
    assert single["global_step"] < 40 if scaled else single["global_step"] == 40
    assert numpy.array(every[LOOP - 1 :: LOOP]).tobytes() == numpy.array(last).tobytes()
    assert numpy.isfinite(single["weight"]).all()


@pytest.mark.parametrize(
    "way", [train_by_interactive_session, train_by_restoring, train_by_queues]
)
def test_the_same_weights_in_other_ways(way, tf, looped_proto, tmp_path):
    """Also where operations run themselves, a checkpoint is between loops, and threads feed."""
    last, looped = train(way, tf, looped_proto, LOOP, 4, tmp_path)
    every, single = train(way, tf, looped_proto, 1, 4 * LOOP, tmp_path)
    assert looped["global_step"] == 4 * LOOP
    for name, value in single.items():
        assert value.tobytes() == looped[name].tobytes(), name
    assert numpy.array(every[LOOP - 1 :: LOOP]).tobytes() == numpy.array(last).tobytes()


@pytest.mark.parametrize("way", WAYS)
def test_a_dataset_that_ends(way, tf, looped_proto, tmp_path):
    """Data that ends in a loop end the run without outputs; the finished iterations count."""
    looped, last = train(way, tf, looped_proto, LOOP, 4, tmp_path, True, batches=25)
    single, every = train(way, tf, looped_proto, 1, 40, tmp_path, True, batches=25)
    assert len(every) == 26
    assert len(last) == 3
    assert every[-1] == last[-1] == "end"
    if way is not train_by_estimator:  # whose checkpoint is of the last whole loop
        assert single["global_step"] == looped["global_step"] < 25
        for name, value in single.items():
            assert value.tobytes() == looped[name].tobytes(), name


def looped_session(tf, looped_proto, count=LOOP, model=None):
    """A session, a model and its loop."""
    from npu_config.tf1 import set_iteration_per_loop

    model = model or Model(tf, global_step=True, ordered=True)
    session = model.session(config=looped_proto(count))
    return session, model, set_iteration_per_loop(session, model.train_op, count)


def steps(session, model):
    """The global step."""
    return int(session.run(model.global_step))


class Counter:
    """An operation that counts how often it is computed, as a side effect on the host."""

    def __init__(self, tf, value, dtype):
        self.calls = 0
        self.tensor = tf.py_func(self._count, [value], dtype)

    def _count(self, value):
        self.calls += 1
        return numpy.array(b"text") if self.tensor.dtype == "string" else value


def test_fetches(tf, looped_proto):
    """Fetches of any form come from the last round; what else is run is not looped."""
    session, model, loop = looped_session(tf, looped_proto)
    fetched = session.run({"a": [loop], "b": (model.loss, "x:0")})
    assert fetched["a"] == [None]
    assert fetched["b"][0] == pytest.approx(0.8**18, rel=1e-5)
    assert steps(session, model) == LOOP
    session.run(model.loss)
    session.run(model.train_op)
    assert steps(session, model) == LOOP + 1
    session.run("IterationOp")
    assert steps(session, model) == 2 * LOOP + 1
    with tf.control_dependencies([loop]):
        behind = tf.identity(model.loss)
    session.run(behind)
    assert steps(session, model) == 3 * LOOP + 1


def test_reference(tf, looped_proto):
    """The loop variables, the steps and the elements of a run; what a run leaves that data end."""
    from npu_config.tf1 import set_iteration_per_loop

    values, short = (
        next(each for each in vectors("npu_ops_reference.jsonl") if each["name"] == name)
        for name in ("IterationOp values", "IterationOp short data")
    )
    count, expected = values["inputs"]["iterations_per_loop"], values["expect"]
    left = short["inputs"]["elements_left"]
    iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(count + left))
    step = tf.train.get_or_create_global_step()
    seen = tf.Variable(0, dtype=tf.int64, use_resource=False)
    with tf.control_dependencies([tf.assign(seen, iterator.get_next())]):
        train_op = tf.assign_add(step, 1).op
    config = looped_proto(count)
    with tf.Session(config=config) as session:
        session.run([tf.global_variables_initializer(), iterator.initializer])
        loop = set_iteration_per_loop(session, train_op, count)
        assert loop_values(session) == expected["variables"]
        session.run(loop)
        assert session.run(step) == expected["global_step_after_run_from_0"]
        assert session.run(seen) == expected["dataset_elements_consumed"] - 1
        loop_cond = loop_values(session)["npu_runconfig/loop_cond"]
        assert loop_cond == expected["loop_cond_after_run"]
        said = r"^[^\n]+ \(after {} of {} iterations of a loop: these have trained, but "
        with pytest.raises(tf.errors.OutOfRangeError, match=said.format(left, count)):
            session.run(loop)
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence\n"):
            session.run(loop)
        assert session.run(step) == count + short["expect"]["updates_kept"]


def test_what_is_made_on_the_host(tf, looped_proto):
    """What is fetched of the host is made once for a loop, what a step needs in every round."""
    model = Model(tf, global_step=True, ordered=True)
    text, number = Counter(tf, model.loss, tf.string), Counter(tf, model.loss, tf.float32)
    inside = Counter(tf, model.loss, tf.float32)
    queue = tf.train.range_input_producer(100, shuffle=False, capacity=50)
    element = queue.dequeue()
    with tf.control_dependencies([inside.tensor]):
        model.train_op = tf.group(model.train_op)
    session, model, loop = looped_session(tf, looped_proto, model=model)
    session.run(tf.local_variables_initializer())
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coordinator)
    fetches = [loop, text.tensor, number.tensor, element]
    assert session.run(fetches)[-1] == 0
    assert (text.calls, number.calls, inside.calls) == (1, 1, LOOP)
    assert session.make_callable(fetches)()[-1] == 1
    assert (text.calls, number.calls, inside.calls) == (2, 2, 2 * LOOP)
    coordinator.request_stop()
    session.run(queue.close(cancel_pending_enqueues=True))
    coordinator.join(threads)


def test_a_one_shot_iterator(tf, looped_proto):
    """One that a session with a loop needs is reported once: the device ends the process."""
    from npu_config.tf1 import set_iteration_per_loop

    element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(50)).get_next()
    step = tf.train.get_or_create_global_step()
    train_op = tf.assign_add(step, element).op
    config = looped_proto()
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        loop = set_iteration_per_loop(session, train_op, LOOP)
        with pytest.warns(UserWarning, match='"OneShotIterator".*NPU888') as found:
            session.run(loop)
        assert [__file__] == [entry.filename for entry in found]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            session.run(loop)


def test_refused_fetches(tf, looped_proto):
    """What TensorFlow refuses to fetch is refused in its words."""
    session, _, _ = looped_session(tf, looped_proto)
    with pytest.raises(TypeError, match="object"):
        session.run(object())
    with pytest.raises(ValueError, match="nowhere"):
        session.run("nowhere:0")
    session.close()
    with pytest.raises(RuntimeError, match="closed"):
        session.run("IterationOp")


def test_run_metadata(tf, looped_proto):
    """The last round alone is traced."""
    session, model, loop = looped_session(tf, looped_proto)
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    metadata = tf.RunMetadata()
    session.run(loop, options=options, run_metadata=metadata)
    stats = metadata.step_stats.dev_stats
    traced = {node.node_name for device in stats for node in device.node_stats}
    assert any("GradientDescent/update_x" in name for name in traced)
    assert steps(session, model) == LOOP
    assert options.trace_level == tf.RunOptions.FULL_TRACE


def test_make_callable(tf, looped_proto):
    """A callable makes the rounds, with options too."""
    session, model, loop = looped_session(tf, looped_proto)
    session.make_callable([loop, model.loss])()
    assert steps(session, model) == LOOP
    assert session.make_callable(model.global_step)() == LOOP
    call = session.make_callable(loop, accept_options=True)
    call(
        options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=tf.RunMetadata()
    )
    assert steps(session, model) == 2 * LOOP


def test_partial_run(tf, looped_proto):
    """A partial run of a loop is refused, of anything else it is TensorFlow's."""
    model = Model(tf, global_step=True)
    inputs = tf.placeholder(tf.float32, [])
    doubled = 2 * inputs
    session, model, loop = looped_session(tf, looped_proto, model=model)
    with pytest.raises(RuntimeError, match="NPU827"):
        session.partial_run_setup([doubled, loop], [inputs])
    handle = session.partial_run_setup([doubled], [inputs])
    assert session.partial_run(handle, doubled, {inputs: 1.0}) == 2.0


def test_feeds(tf, looped_proto):
    """What is fed stays the same in every round; a batch draws one warning, a rate none."""
    state = tf.Variable(0.0, use_resource=False)
    batch, rate = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [])
    step = tf.train.get_or_create_global_step()
    train_op = tf.group(tf.assign_add(state, rate * tf.reduce_sum(batch)), tf.assign_add(step, 1))
    from npu_config.tf1 import set_iteration_per_loop

    config = looped_proto()
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        loop = set_iteration_per_loop(session, train_op, LOOP)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            session.run(loop, {rate: 0.5, batch: [1.0, 1.0]})
            session.run(loop, {rate: 0.5, batch: numpy.ones([4])})
        assert session.run(state) == 10.0 + 20.0
        messages = [str(entry.message) for entry in found]
        assert len(messages) == 1
        assert "NPU863" in messages[0]
        assert __file__ == found[0].filename
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            session.run(loop, {rate: 0.5, batch: 1.0 * numpy.ones([4])})


def test_scalars_are_not_batches(tf, looped_proto):
    """A rate or a switch that is fed draws no warning."""
    from npu_config.tf1 import set_iteration_per_loop

    rate, handle = tf.placeholder(tf.float32, []), tf.placeholder(tf.string, [])
    state = tf.Variable(0.0, use_resource=False)
    with tf.control_dependencies([tf.identity(handle)]):
        train_op = tf.group(tf.assign_add(state, rate))
    config = looped_proto()
    with tf.Session(config=config) as session, warnings.catch_warnings():
        warnings.simplefilter("error")
        session.run(state.initializer)
        loop = set_iteration_per_loop(session, train_op, LOOP)
        session.run(loop, {rate: numpy.float32(0.5), handle: b"train"})
        assert session.run(state) == 5.0


def test_loops_once(tf, looped_proto, monkeypatch):
    """Switched off, a run makes one step, and the first says so; another setting is refused."""
    from npu_config.tf1 import set_loops

    session, model, loop = looped_session(tf, looped_proto)
    set_loops("once")
    with pytest.warns(UserWarning, match=r"NPU825(.|\n)*call set_loops"):
        session.run(loop)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session.run(loop)
    assert steps(session, model) == 2
    set_loops("device")
    session.run(loop)
    assert steps(session, model) == 2 + LOOP
    with pytest.raises(ValueError, match="NPU826"):
        set_loops("twice")
    monkeypatch.setenv("NPU_CONFIG_LOOPS", "on")
    with pytest.raises(ValueError, match="NPU826"):
        session.run(loop)


@pytest.mark.parametrize(
    ("given_by", "help"), [("run", "remove --loops once"), (None, "unset NPU_CONFIG_LOOPS")]
)
def test_what_switched_loops_off_is_named(tf, looped_proto, monkeypatch, given_by, help):
    """The help is about what was given: the option of ``npu-config run``, or the variable."""
    session, _, loop = looped_session(tf, looped_proto)
    monkeypatch.setenv("NPU_CONFIG_LOOPS", "once")
    monkeypatch.delenv("NPU_CONFIG_LOOPS_BY", raising=False)
    if given_by:
        monkeypatch.setenv("NPU_CONFIG_LOOPS_BY", given_by)
    with pytest.warns(UserWarning, match=help):
        session.run(loop)


def test_a_session_without_the_option(tf, looped_proto):
    """Without the option the device makes no loop, and neither does a run here."""
    from npu_config.tf1 import patch_sessions, set_iteration_per_loop

    patch_sessions()
    model = Model(tf, global_step=True)
    session = model.session()
    with pytest.warns(UserWarning, match="NPU847"):
        loop = set_iteration_per_loop(session, model.train_op, LOOP)
    session.run(loop)
    assert steps(session, model) == 1


def test_training_without_a_loop(tf, looped_proto):
    """A session that declares a loop and trains without one says so once, at the first step."""
    from npu_config.tf1 import patch_sessions

    patch_sessions()
    model = Model(tf, global_step=True)
    config = looped_proto()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session = tf.Session(config=config)
        session.run(model.init)
        session.run([model.loss, model.global_step])
    with pytest.warns(UserWarning, match="NPU886") as found:
        session.run([model.train_op, model.loss])
    assert [__file__] == [entry.filename for entry in found]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session.run(model.train_op)
    assert steps(session, model) == 2


def test_a_loop_that_is_not_loaded(tf, looped_proto):
    """A loop that nobody loaded makes one step, and says so."""
    from npu_config.tf1 import IterationPerLoop, npu_session

    model = Model(tf, global_step=True)
    loop = IterationPerLoop().create_iteration_per_loop_var(model.train_op)
    init = tf.group(model.init, tf.local_variables_initializer())
    config = looped_proto()
    with npu_session(config) as session:
        session.run(init)
        with pytest.warns(UserWarning, match="NPU847"):
            session.run(loop)
        assert steps(session, model) == 1


def test_a_loop_that_the_script_loads(tf, looped_proto):
    """The loop variable counts, however it was loaded, and also when it is loaded anew."""
    from npu_config.tf1 import IterationPerLoop, npu_session

    model = Model(tf, global_step=True)
    loop = IterationPerLoop()
    train_op = loop.create_iteration_per_loop_var(model.train_op)
    (variable,) = tf.get_collection("npu_runconfig_iterations_per_loop")
    config = looped_proto()
    with npu_session(config) as session:
        session.run(model.init)
        variable.load(3, session)
        session.run(train_op)
        assert steps(session, model) == 4
        loop.load_iteration_per_loop_var(session, LOOP)
        variable.load(1, session)
        session.run(train_op)
        assert steps(session, model) == 6
        session.run(tf.local_variables_initializer())
        assert loop_values(session)["npu_runconfig/iterations_per_loop"] == 1


def test_several_sessions(tf, looped_proto):
    """Two sessions of one graph have loops of their own."""
    first, model, loop = looped_session(tf, looped_proto, 10)
    second, _, same = looped_session(tf, looped_proto, 3, model=model)
    assert same is loop
    first.run(loop)
    second.run(loop)
    second.run(loop)
    assert (steps(first, model), steps(second, model)) == (10, 6)


def test_threads(tf, looped_proto):
    """Runs of several threads make all their steps."""
    from npu_config.tf1 import set_iteration_per_loop

    count = tf.Variable(0, use_resource=False)
    counting = tf.assign_add(count, 1, use_locking=True).op
    session = tf.Session(config=looped_proto())
    session.run(count.initializer)
    loop = set_iteration_per_loop(session, counting, LOOP)
    session.graph.finalize()

    def run():
        for _ in range(5):
            session.run(loop)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.run(count) == 4 * 5 * LOOP


def test_the_device(tf, looped_proto, monkeypatch):
    """Where the vendor's library is there the device makes the loop: a run is one run."""
    from npu_config.tf1 import vendor

    monkeypatch.setattr(vendor, "is_available", lambda: True)
    session, model, loop = looped_session(tf, looped_proto)
    session.run(loop)
    assert steps(session, model) == 1
    assert "make_callable" not in vars(session)


class Recorder:
    """What a hook sees."""

    def __init__(self, tf):
        recorder = self
        self.steps = []

        class Hook(tf.train.SessionRunHook):
            """Notes the step after each run."""

            def after_run(self, run_context, run_values):
                recorder.steps.append(int(run_context.session.run(tf.train.get_global_step())))

        self.hook = Hook()


def test_short_last_loop(tf, looped_proto):
    """Ten steps in loops of four run as 4, 4, 2."""
    from npu_config.tf1 import NPUStopAtStepHook, patch_sessions

    patch_sessions()
    model = Model(tf, global_step=True)
    train_op = tf.group(model.train_op, name="IterationOp")
    recorder = Recorder(tf)
    hooks = [NPUStopAtStepHook(4, last_step=10), recorder.hook]
    config = looped_proto(4)
    with tf.train.MonitoredTrainingSession(hooks=hooks, config=config) as session:
        while not session.should_stop():
            session.run(train_op)
    assert recorder.steps == [4, 8, 10]


def test_a_last_step_inside_of_a_loop(tf, looped_proto):
    """TensorFlow's own hook stops after the loop that reaches the step."""
    from npu_config.tf1 import SetIterationsVarHook, patch_sessions

    patch_sessions()
    model = Model(tf, global_step=True)
    train_op = tf.group(model.train_op, name="IterationOp")
    recorder = Recorder(tf)
    hooks = [SetIterationsVarHook(4), tf.train.StopAtStepHook(last_step=6), recorder.hook]
    config = looped_proto(4)
    with tf.train.MonitoredTrainingSession(hooks=hooks, config=config) as session:
        while not session.should_stop():
            session.run(train_op)
    assert recorder.steps == [4, 8]


def test_an_estimator_runs_loops(tf, tmp_path):
    """Forty steps in loops of ten are four runs; checkpoints at multiples of the loop."""
    from npu_config.tf1 import NPUEstimator, NPURunConfig

    def model_fn(features, labels, mode):
        loss, train_op = train_operation(tf, features, labels)
        tf.summary.scalar("the_loss", loss)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    config = NPURunConfig(
        model_dir=str(tmp_path),
        iterations_per_loop=LOOP,
        save_checkpoints_steps=20,
        save_summary_steps=1,
    )
    recorder = Recorder(tf)
    NPUEstimator(model_fn, config=config).train(
        lambda: input_fn(tf), hooks=[recorder.hook], steps=40
    )
    assert recorder.steps == [10, 20, 30, 40]
    saved = sorted(path.name for path in tmp_path.glob("model.ckpt-*.index"))
    assert {"model.ckpt-20.index", "model.ckpt-40.index"} <= set(saved)
    assert {int(name.split("-")[1].split(".")[0]) % LOOP for name in saved} == {0}
    (events,) = tmp_path.glob("events*")
    written = [
        event.step
        for event in tf.train.summary_iterator(str(events))
        if any(value.tag == "the_loss" for value in event.summary.value)
    ]
    assert len(written) == 4
