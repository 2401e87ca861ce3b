import tensorflow as tf
from npu_bridge.npu_init import *


def outer(flag):
    mode = "everything"

    def inner(config):
        op = config.graph_options.rewrite_options.custom_optimizers.add()
        op.name = "NpuOptimizer"
        op.parameter_map["dump_debug_mode"].s = tf.compat.as_bytes(mode)
        op.parameter_map["enable_dump_debug"].b = flag
        return config

    return tf.Session(config=inner(tf.ConfigProto()))
