"""A module whose session and configuration others import."""

import tensorflow as tf
from npu_bridge.npu_init import *

config_proto = tf.ConfigProto()
custom_op = config_proto.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
config = tf.ConfigProto()
sess = tf.Session(config=config)
