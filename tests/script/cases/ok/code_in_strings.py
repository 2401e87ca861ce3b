import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
"""
custom_op.parameter_map["dump_mode"].s = tf.compat.as_bytes("ALL")
custom_op.parameter_map["enable_dumb"].b = True
"""
text = 'custom_op.parameter_map["iterations_per_loop"].b = 10'
# custom_op.parameter_map["iterations_per_loop"].b = 10
sess = tf.Session(config=config)
