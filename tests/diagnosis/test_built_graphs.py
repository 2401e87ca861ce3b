"""Graphs built on real TensorFlow: tf.data, tables, loops, conditions, recurrent networks."""

import logging

import pytest

from npu_config import NpuConfig, NpuConfigError
from npu_config.diagnosis.graph import diagnose

tensorflow = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tensorflow

tf = tensorflow.compat.v1
IS_1 = tensorflow.__version__.startswith("1.")


@pytest.fixture(autouse=True)
def v1_graph():
    """A fresh graph in which control flow and variables are those of TensorFlow 1."""
    tf.logging.set_verbosity(tf.logging.ERROR)
    had_control_flow_v2 = tf.control_flow_v2_enabled()
    had_resource_variables = tf.resource_variables_enabled()
    tf.disable_control_flow_v2()
    tf.disable_resource_variables()
    with tf.Graph().as_default() as graph:
        yield graph
    if had_control_flow_v2:
        tf.enable_control_flow_v2()
    if had_resource_variables:
        tf.enable_resource_variables()


def table():
    """A lookup table: of contrib in 1.15, of tf.lookup after it."""
    if IS_1:
        return tensorflow.contrib.lookup.index_table_from_tensor(["x", "y"])
    keys = tf.constant(["x", "y"])
    values = tf.constant([0, 1], tf.int64)
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), -1)


def elements(dataset):
    """What an initializable iterator yields."""
    return tf.data.make_initializable_iterator(dataset).get_next()


def train(loss):
    """All that a training script adds behind the loss."""
    step = tf.train.get_or_create_global_step()
    operation = tf.train.AdamOptimizer(1e-3).minimize(loss, global_step=step)
    tf.summary.scalar("loss", loss)
    tf.summary.merge_all()
    tf.train.Saver()
    tf.global_variables_initializer()
    return operation


def recurrent(x, cell="BasicLSTMCell", **arguments):
    """A recurrent network over ``x``."""
    outputs, _ = tf.nn.dynamic_rnn(
        getattr(tf.nn.rnn_cell, cell)(6), x, dtype=tf.float32, **arguments
    )
    return tf.reduce_mean(outputs)


def strings():
    """A dataset of words."""
    return tf.data.Dataset.from_tensor_slices(["x", "y", "z", "x"])


def rows():
    """A dataset of sequences of a fixed length."""
    return tf.data.Dataset.from_tensors(tf.zeros([10, 4])).repeat(20)


# case 1: a table in the input pipeline


def _case1_map():
    known = table()
    elements(strings().map(known.lookup).batch(2))


def _case1_dictionary_elements():
    known = table()
    dataset = tf.data.Dataset.from_tensor_slices({"word": ["x", "y"]})
    elements(dataset.map(lambda row: {"word": known.lookup(row["word"])}).batch(2))


def _case1_lookup_before_the_dataset():
    elements(tf.data.Dataset.from_tensor_slices(table().lookup(tf.constant(["x", "y"]))))


def _case1_nested_in_flat_map_and_cond():
    known = table()

    def number(word):
        return tf.cond(
            tf.equal(word, "x"), lambda: known.lookup(word), lambda: tf.constant(3, tf.int64)
        )

    elements(strings().flat_map(lambda word: tf.data.Dataset.from_tensors(word).map(number)))


def _case1_filter():
    known = table()
    elements(strings().filter(lambda word: known.lookup(word) >= 0))


def _ok1_table_in_the_model():
    words = elements(strings().map(tf.strings.lower).batch(2, drop_remainder=True))
    table().lookup(words)
    tf.tables_initializer()


def _ok1_feature_columns_in_the_model():
    features = elements(
        tf.data.Dataset.from_tensor_slices({"a": ["x", "y"]}).batch(2, drop_remainder=True)
    )
    column = tf.feature_column.categorical_column_with_vocabulary_list("a", ["x", "y"])
    tf.feature_column.input_layer(features, [tf.feature_column.indicator_column(column)])


# case 2: a variable in the input pipeline


def _case2_map():
    offset = tf.Variable(3, use_resource=True)
    elements(tf.data.Dataset.range(5).map(lambda x: tf.cast(x, tf.int32) + offset))


def _case2_skip():
    count = tf.Variable(3, dtype=tf.int64, use_resource=True)
    elements(tf.data.Dataset.range(5).skip(count + 1))


def _case2_reference_variable_shuffles():
    size = tf.Variable(3, dtype=tf.int64, use_resource=False)
    elements(tf.data.Dataset.range(5).shuffle(size))


def _case2_made_in_the_function():
    def shifted(x):
        return x + tf.get_variable("v", [], tf.int64, use_resource=True)

    elements(tf.data.Dataset.range(5).map(shifted))


def _ok2_embedding_in_the_model():
    ids = elements(tf.data.Dataset.range(8).batch(4, drop_remainder=True))
    train(tf.reduce_mean(tf.nn.embedding_lookup(tf.get_variable("e", [10, 3]), ids)))


def _ok2_variable_filled_from_the_pipeline():
    x = elements(tf.data.Dataset.range(8))
    tf.assign(tf.Variable(0, dtype=tf.int64), x)


# case 3: v1 control flow and dynamic shapes


def _case3_while_loop():
    x = tf.placeholder(tf.float32, [None, 4])
    tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a * 2), [0, x])


def _case3_cond():
    x = tf.placeholder(tf.float32, [None, 4])
    tf.cond(tf.reduce_sum(x) > 0, lambda: x, lambda: -x)


def _case3_case_beside_a_dynamic_input():
    rate = tf.case([(tf.placeholder(tf.bool, []), lambda: 0.1)], default=lambda: 0.01)
    train(tf.reduce_mean(tf.layers.dense(tf.placeholder(tf.float32, [None, 4]), 3)) * rate)


def _case3_remainder_of_a_batch():
    train(recurrent(elements(rows().batch(5))))


def _case3_map_fn_of_unknown_rank():
    tf.map_fn(lambda row: row * 2, tf.placeholder(tf.float32))


def _case3_size_that_is_fed():
    zeros = tf.zeros([tf.placeholder(tf.int32, []), 3])
    tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a * 2), [0, zeros])


def _case3_boolean_mask():
    x = tf.placeholder(tf.float32, [8])
    chosen = tf.boolean_mask(x, x > 0)
    tf.cond(tf.reduce_sum(chosen) > 0, lambda: chosen * 2, lambda: chosen)


def _case3_sequence_mask():
    mask = tf.sequence_mask(tf.placeholder(tf.int32, [8]))
    tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, tf.logical_not(a)), [0, mask])


def _case3_shape_invariants():
    tf.while_loop(
        lambda i, _: i < 3,
        lambda i, a: (i + 1, tf.concat([a, a], 0)),
        [tf.constant(0), tf.ones([1, 2])],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])],
    )


def _case3_branches_of_different_shapes():
    tf.cond(tf.placeholder(tf.bool, []), lambda: tf.ones([2, 3]), lambda: tf.ones([4, 3]))


def _case3_reference_variable():
    v = tf.Variable(1.0, use_resource=False)
    tf.cond(tf.placeholder(tf.bool, []), lambda: tf.assign(v, 2.0), lambda: tf.identity(v))


def _ok3_static_recurrent_training():
    train(recurrent(tf.placeholder(tf.float32, [8, 10, 4]), "LSTMCell"))


def _ok3_static_lengths():
    lengths = tf.placeholder(tf.int32, [8])
    train(recurrent(tf.placeholder(tf.float32, [8, 10, 4]), "GRUCell", sequence_length=lengths))


def _ok3_static_dataset():
    dataset = rows().shuffle(10).batch(5, drop_remainder=True).prefetch(2)
    train(recurrent(elements(dataset)))


def _ok3_dynamic_only_before_the_batch():
    fed = tf.placeholder(tf.float32, [None, 10, 4])
    dataset = tf.data.Dataset.from_tensor_slices(tf.identity(fed)).batch(5, drop_remainder=True)
    iterator = tf.data.make_initializable_iterator(dataset)
    train(recurrent(iterator.get_next()))
    tf.group(iterator.initializer, tf.global_variables_initializer())


def _ok3_static_loops_and_conditions():
    x = tf.placeholder(tf.float32, [8, 4])
    y = tf.map_fn(lambda row: row * 2, x)
    z = tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a * 2), [0, y])[1]
    w = tf.get_variable("w", [4, 2], use_resource=True)
    total = tf.reduce_sum(x)
    c = tf.case(
        [(total > 0, lambda: tf.matmul(z, w)), (total < -3, lambda: tf.matmul(z, w * 2))],
        default=lambda: tf.matmul(z, w) + 1,
    )
    train(tf.reduce_sum(tf.scan(lambda a, b: a + b, c)))


def _ok3_batch_normalization():
    training = tf.placeholder(tf.bool, [])
    y = tf.layers.conv2d(tf.placeholder(tf.float32, [8, 4, 4, 3]), 5, 3)
    y = tf.layers.dropout(tf.layers.batch_normalization(y, training=training), training=training)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train(tf.reduce_mean(y))


def _ok3_dynamic_without_control_flow():
    train(tf.reduce_mean(tf.layers.dense(tf.placeholder(tf.float32, [None, 4]), 3)))


def _ok3_loop_only_in_the_pipeline():
    def doubled(x):
        return tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a * 2), [0, x])[1]

    elements(tf.data.Dataset.from_tensors([1.0]).map(doubled).batch(2))


# case 4: a float16 sum


def _case4_sum():
    tf.reduce_sum(tf.placeholder(tf.float16, [8, 4]))


def _ok4_other_types_and_operations():
    x = tf.placeholder(tf.float32, [8, 4])
    tf.reduce_sum(x)
    tf.reduce_mean(tf.cast(x, tf.float16))


def _ok4_sum_in_the_pipeline():
    dataset = tf.data.Dataset.from_tensors(tf.zeros([8, 4], tf.float16))
    elements(dataset.map(tf.reduce_sum).batch(4, drop_remainder=True))


CASES = [value for name, value in globals().items() if name.startswith(("_case", "_ok"))]
if not IS_1:
    CASES.remove(_case2_made_in_the_function)  # TensorFlow 2 refuses it


@pytest.mark.parametrize("build", CASES, ids=lambda build: build.__name__[1:])
def test_each_graph_is_what_its_name_says(build, v1_graph):
    """The case in the name and no other; at most a note for the innocent ones."""
    build()
    found = diagnose(v1_graph).findings
    if build.__name__.startswith("_ok"):
        assert not [each for each in found if each.diagnostic.severity.rank]
    cases = [int(build.__name__[5])] if build.__name__.startswith("_case") else []
    assert [each.case for each in found if each.case is not None] == cases


def test_control_flow_v2_is_silent(v1_graph):
    """What the advice leads to is what the diagnosis accepts."""
    tf.enable_control_flow_v2()
    tf.enable_resource_variables()
    if IS_1:
        _case3_while_loop()
        _case3_cond()
        _case3_case_beside_a_dynamic_input()
    else:
        _case3_while_loop()
        _case3_cond()
    assert not diagnose(v1_graph)


@pytest.mark.skipif(not IS_1, reason="what TensorFlow 1.15 makes")
def test_what_tensorflow_makes_for_a_script_is_not_the_scripts(v1_graph, tmp_path):
    """Clipping by norm, queues of optimizers that wait, an evaluation with a short last batch."""
    features = elements(tf.data.Dataset.range(8).map(tf.to_float).batch(2, drop_remainder=True))
    weight = tf.get_variable("weight", [])
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    grads = tf.gradients(tf.reduce_mean(features * weight), [weight])
    clipped, _ = tf.clip_by_global_norm(grads, 1.0)
    synced = tf.train.SyncReplicasOptimizer(optimizer, 1, 1)
    synced.apply_gradients(zip(clipped, [weight]), tf.train.get_or_create_global_step())
    elements(tf.data.Dataset.range(5).map(tf.to_float).batch(2)) * weight
    assert {"accumulators-on-device"} == stored_situations(tmp_path)
    read = tf.train.batch([tf.constant(1.0)], 2)
    optimizer.minimize(tf.reduce_mean(read * weight))
    assert {"accumulators-on-device", "queue-input"} == stored_situations(tmp_path)


def stored_situations(folder):
    """What is found in the graph that there is, once it is stored."""
    tf.train.export_meta_graph(str(folder / "model.meta"))
    found = diagnose(folder / "model.meta", {"use_off_line": True})
    return {each.situation for each in found if each.situation}


def test_a_saved_graph_says_what_the_live_one_says(v1_graph, tmp_path):
    """Checkpoint, frozen text and graph agree."""
    _case1_map()
    _case2_map()
    train(recurrent(tf.placeholder(tf.float32, [None, 10, 4])))
    expected = [(f.case, f.nodes) for f in diagnose(v1_graph).findings]
    assert [case for case, _ in expected if case is not None] == [1, 2, 3]
    tf.train.export_meta_graph(str(tmp_path / "model.ckpt-1.meta"))
    tf.io.write_graph(v1_graph.as_graph_def(), str(tmp_path), "graph.pbtxt")
    tf.io.write_graph(v1_graph.as_graph_def(), str(tmp_path), "graph.pb", as_text=False)
    for name in ("model.ckpt-1.meta", "model.ckpt-1", "graph.pbtxt", "graph.pb"):
        found = diagnose(tmp_path / name).findings
        assert [(f.case, f.nodes) for f in found] == expected


def test_a_session_brings_its_configuration(v1_graph):
    """With mix_compile_mode in the session's ConfigProto case 1 is no fault."""
    _case1_map()
    proto = NpuConfig.from_dict({"mix_compile_mode": True}).to_config_proto()
    with tf.Session(config=proto) as session:
        assert not diagnose(session)
    with tf.Session() as session:
        assert [finding.case for finding in diagnose(session).findings] == [1]
    creator = tf.train.ChiefSessionCreator(config=proto)
    with tf.train.MonitoredSession(creator) as session:
        assert not diagnose(session)


def offload(scope=None, variables=True, count=1):
    """A training graph with what set_iteration_per_loop adds to it."""
    x = elements(rows().batch(5, drop_remainder=True))
    operation = train(tf.reduce_mean(tf.layers.dense(x, 3)))
    if variables:
        with tf.variable_scope("npu_runconfig", use_resource=True):
            for name in ("iterations_per_loop", "loop_cond", "zero", "one"):
                tf.get_variable(
                    name, [], tf.int64, tf.zeros_initializer(), trainable=False, collections=[]
                )
    for _ in range(count):
        with tf.name_scope(scope):
            tf.group(operation, name="IterationOp")


OFFLOADED = {"iterations_per_loop": 10, "enable_data_pre_proc": True}


@pytest.mark.parametrize(
    ("arguments", "rules"),
    [
        ({}, []),
        ({"scope": "train"}, ["NPU486"]),
        ({"count": 2}, ["NPU487"]),
        ({"variables": False}, ["NPU488"]),
        ({"count": 0}, ["NPU486"]),
        ({"count": 0, "variables": False}, ["NPU486"]),
    ],
    ids=["right", "scope", "twice", "no-variables", "no-op", "nothing"],
)
def test_iteration_offload(v1_graph, arguments, rules):
    """The loop needs its operation, under its exact name, once, and its variables."""
    offload(**arguments)
    assert [found.rule for found in diagnose(v1_graph, OFFLOADED)] == rules


def test_an_evaluation_graph_needs_no_loop(v1_graph):
    """The same configuration serves evaluation, which trains nothing."""
    x = elements(rows().batch(5, drop_remainder=True))
    tf.metrics.mean(tf.layers.dense(x, 3))
    assert not diagnose(v1_graph, OFFLOADED)


def test_the_wrong_name_shows_without_a_configuration(v1_graph):
    """An operation that looks like the IterationOp is meant to be it."""
    offload(scope="train")
    assert [found.rule for found in diagnose(v1_graph)] == ["NPU486"]


def test_one_shot_iterator_with_offload(v1_graph):
    """The adapter aborts; without offload it is fine."""
    dataset = rows().batch(5, drop_remainder=True)
    tf.data.make_one_shot_iterator(dataset).get_next()
    (found,) = diagnose(v1_graph, OFFLOADED).findings
    assert found.diagnostic.rule == "NPU485"
    assert found.change.options == {"iterations_per_loop": 1}
    assert not diagnose(v1_graph)
    assert not diagnose(v1_graph, {"iterations_per_loop": 1})


def test_offload_without_a_dataset(v1_graph):
    """Feeds are not offloaded; the placeholders are named."""
    x = tf.placeholder(tf.float32, [8, 4], name="image")
    tf.layers.dense(x, 3)
    (found,) = diagnose(v1_graph, {"enable_data_pre_proc": True}).findings
    assert (found.diagnostic.rule, found.nodes) == ("NPU489", ("image",))
    assert "enable_data_pre_proc" in found.diagnostic.message
    (found,) = diagnose(v1_graph, OFFLOADED).findings
    assert "iteration offload" in found.diagnostic.message
    assert not diagnose(v1_graph)


def test_strings_and_profiles_of_iterators(v1_graph):
    """String elements want GetNext offload; dynamic profiles want a single iterator."""
    elements(strings().batch(2, drop_remainder=True))
    elements(strings().batch(2, drop_remainder=True))
    assert not diagnose(v1_graph)
    (found,) = diagnose(v1_graph, {"enable_data_pre_proc": False}).findings
    assert found.change.options == {"enable_data_pre_proc": True}
    profiles = {"input_shape": "a:-1", "dynamic_dims": "1;2", "enable_data_pre_proc": True}
    assert [found.rule for found in diagnose(v1_graph, profiles)] == ["NPU492"]


class TestHook:
    """The hook says it before anything is run."""

    def run(self, hook, config=None):
        """One step of a monitored session."""
        step = tf.train.get_or_create_global_step()
        work = tf.assign_add(step, 1)
        creator = tf.train.ChiefSessionCreator(config=config)
        with tf.train.MonitoredSession(creator, hooks=[hook]) as session:
            return session.run(work)

    def test_an_error_stops_the_job(self, v1_graph):
        """The error carries every finding; nothing was trained."""
        from npu_config.tf1.diagnosis import DiagnosisHook

        _case1_map()
        _case3_while_loop()
        with pytest.raises(NpuConfigError) as caught:
            self.run(DiagnosisHook())
        assert [found.rule for found in caught.value.diagnostics] == ["NPU480", "NPU482"]

    def test_with_a_configuration_it_stops_before_the_session(self, v1_graph):
        """The initialisation would already fail."""
        from npu_config.tf1.diagnosis import DiagnosisHook

        _case1_map()
        with pytest.raises(NpuConfigError):
            DiagnosisHook({"mix_compile_mode": False}).begin()

    def test_the_sessions_configuration_counts(self, v1_graph):
        """Mixed computing in the session's proto: no error, and training goes on."""
        from npu_config.tf1.diagnosis import DiagnosisHook

        _case1_map()
        hook = DiagnosisHook()
        proto = NpuConfig.from_dict({"mix_compile_mode": True}).to_config_proto()
        assert self.run(hook, proto) == 1
        assert hook.diagnosis.ok

    def test_findings_can_be_logged_only(self, v1_graph, caplog):
        """Asked so, it warns and lets the job run."""
        from npu_config.tf1.diagnosis import DiagnosisHook

        _case1_map()
        with caplog.at_level(logging.INFO, "npu_config"):
            assert self.run(DiagnosisHook(raise_on_error=False)) == 1
        assert [record.levelname for record in caplog.records if record.name == "npu_config"] == [
            "WARNING"
        ]
