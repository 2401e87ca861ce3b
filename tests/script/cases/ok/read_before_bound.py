"""A name that a function binds in a later line is not that value yet."""

import tensorflow as tf
from npu_bridge.npu_init import *


def main(_):
    config_proto = tf.ConfigProto()
    if FLAGS.use_xla:
        config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    custom_op = config_proto.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    config = npu_config_proto(config_proto=config_proto)
    with tf.Session(config=config) as sess:
        sess.run(train_op)
