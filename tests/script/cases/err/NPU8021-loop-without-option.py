import tensorflow as tf
from npu_bridge.npu_init import *


def configured():
    config = tf.ConfigProto(allow_soft_placement=True)
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["enable_data_pre_proc"].b = True
    return config


def main(_):
    with tf.Session(config=configured()) as sess:
        train_op = util.set_iteration_per_loop(sess, build(), 10)
        sess.run(train_op)


if __name__ == "__main__":
    tf.app.run()
