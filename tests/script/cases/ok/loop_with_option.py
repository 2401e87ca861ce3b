import tensorflow as tf
from npu_bridge.npu_init import *



def given(config, train_op):
    """The configuration comes from elsewhere."""
    with tf.Session(config=config) as sess:
        sess.run(util.set_iteration_per_loop(sess, train_op, 10))


def unknown(count):
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    with tf.Session(config=config) as sess:
        sess.run(util.set_iteration_per_loop(sess, train_op, count))


if __name__ == "__main__":
    given(configured(), build())
