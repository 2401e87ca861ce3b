import tensorflow as tf
from npu_bridge.npu_init import *
ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)


def scaled(optimizer):
    manager = ExponentialUpdateLossScaleManager(1024, 1000)
    return NPULossScaleOptimizer(optimizer, manager)


optimizer = scaled(tf.train.AdamOptimizer())
with tf.control_dependencies([]):
    manager = ExponentialUpdateLossScaleManager(1024, 1000)
with tf.control_dependencies(ops):
    fixed = FixedLossScaleManager(1024)
    other = scaled(tf.train.AdamOptimizer())
    last = NPULossScaleOptimizer(optimizer, manager)
with tf.Session(config=npu_config_proto()) as sess:
    pass
