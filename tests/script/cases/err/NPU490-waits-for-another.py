import tensorflow as tf
from npu_bridge.estimator.npu.npu_loss_scale_manager import (
    ExponentialUpdateLossScaleManager as Manager,
)
from npu_bridge.npu_init import *

g, d = tf.Variable(1.0), tf.Variable(1.0)
summed = tf.assign_add(tf.Variable(0.0), 1.0)


def optimizer():
    return NPULossScaleOptimizer(tf.train.AdamOptimizer(), FixedLossScaleManager(8.0))


first = optimizer().minimize(tf.square(d), var_list=[d])
with tf.control_dependencies([first]):
    both = optimizer().minimize(tf.square(g), var_list=[g])
with tf.control_dependencies([summed]):
    manager = Manager(1024.0, 100, 2, 2.0, 0.5)
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(both)
