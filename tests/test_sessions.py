"""Real sessions: TensorFlow 1.15, and compat.v1 of 2.x, train under a built ConfigProto."""

import pytest

import npu_config as npu

tensorflow = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tensorflow

OPTIONS = {
    "precision_mode": "allow_mix_precision",
    "iterations_per_loop": 10,
    "enable_data_pre_proc": True,
    "hccl_timeout": 1800,
    "jit_compile": "auto",
    "dump_step": [0, (2, 5)],
    "enable_dump": True,
    "dump_path": "/home/test/dump",
}


@pytest.fixture
def tf():
    """TensorFlow in graph mode."""
    return tensorflow.compat.v1


def test_a_session_trains_under_the_built_proto(tf):
    """A small model converges in a session created with the ConfigProto."""
    config = npu.NpuConfig.from_dict(OPTIONS)
    with tf.Graph().as_default():
        x = tf.constant([[0.0], [1.0], [2.0], [3.0]])
        y = 2.0 * x + 1.0
        w = tf.Variable([[0.0]], use_resource=True)
        b = tf.Variable([0.0], use_resource=True)
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        proto = config.to_config_proto(tf.ConfigProto(allow_soft_placement=True))
        with tf.Session(config=proto) as session:
            session.run(tf.global_variables_initializer())
            first = session.run(loss)
            for _ in range(200):
                session.run(train)
            assert session.run(loss) < 0.01 < first


def test_the_proto_is_tensorflows_and_gives_the_configuration_back(tf):
    """Without a base the class is tf.ConfigProto; from_config_proto inverts it."""
    config = npu.NpuConfig.from_dict(OPTIONS)
    proto = config.to_config_proto()
    assert isinstance(proto, tf.ConfigProto)
    assert npu.NpuConfig.from_config_proto(proto) == config


def test_tensorflow_reads_the_stubs_bytes_and_text(tf):
    """What is written without TensorFlow, TensorFlow reads, and it is the same message."""
    from google.protobuf import text_format

    config = npu.NpuConfig.from_dict(OPTIONS)
    expected = config.to_config_proto()
    assert tf.ConfigProto.FromString(config.to_bytes()) == expected
    assert text_format.Parse(config.to_pbtxt(), tf.ConfigProto()) == expected
