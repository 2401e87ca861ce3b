import tensorflow as tf
from npu_bridge.npu_init import *


def set_mode(op, mode="allow_mix_precision"):
    op.parameter_map["precision_mode"].s = tf.compat.as_bytes(mode)
    return op


def add_optimizer(config):
    op = config.graph_options.rewrite_options.custom_optimizers.add()
    op.name = "NpuOptimizer"
    return config, op


config, custom_op = add_optimizer(tf.ConfigProto())
custom_op = set_mode(custom_op, mode="mixed")
custom_op.parameter_map["precision_mode_v2"].s = tf.compat.as_bytes("fp16")
sess = tf.Session(config=config)
