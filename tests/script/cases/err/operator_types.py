import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["op_select_implmode"].s = tf.compat.as_bytes("high_precision")
custom_op.parameter_map["optypelist_for_implmode"].s = tf.compat.as_bytes("Pooling, Gather,Add")
sess = tf.Session(config=config)
