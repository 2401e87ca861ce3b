import tensorflow as tf
from npu_bridge.npu_init import *
ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)


def scaled(optimizer):
    manager = ExponentialUpdateLossScaleManager(1024, 1000)
    return NPULossScaleOptimizer(optimizer, manager)


class Trainer:
    def build(self, loss):
        with tf.variable_scope("a"), tf.compat.v1.control_dependencies(ops):
            optimizer = NPULossScaleOptimizer(
                tf.train.AdamOptimizer(), ExponentialUpdateLossScaleManager(1024, 1000)
            )
        with tf.control_dependencies([tf.no_op()]):
            return scaled(optimizer)


Trainer().build(None)
with tf.Session(config=npu_config_proto()) as sess:
    pass
