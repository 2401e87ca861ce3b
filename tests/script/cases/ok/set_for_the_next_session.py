"""An option that is set again after a session was opened is meant for the next one."""

import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["graph_run_mode"].i = 1
with tf.Session(config=config) as sess:
    train(sess)
custom_op.parameter_map["graph_run_mode"].i = 0
with tf.Session(config=config) as sess:
    evaluate(sess)

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
for step in range(2):
    with tf.Session(config=config) as sess:
        train(sess)
    custom_op.parameter_map["hcom_parallel"].b = True
