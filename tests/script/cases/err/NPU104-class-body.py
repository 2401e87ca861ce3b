import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"


class Settings(object):
    custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix")

    class Inner(object):
        custom_op.parameter_map["hccl_timeot"].i = 1800


class Holder(object):
    config = tf.ConfigProto()
    entry = config.graph_options.rewrite_options.custom_optimizers.add()
    entry.name = "NpuOptimizer"
    entry.parameter_map["graph_run_mode"].i = 7


with tf.Session(config=config) as sess:
    sess.run(train_op)
with tf.Session(config=Holder.config) as sess:
    sess.run(train_op)
