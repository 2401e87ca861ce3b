import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["dump_mode"].s = tf.compat.as_bytes("all" if full else "some")
level = 5
if not quick:
    level = 9
custom_op.parameter_map["op_debug_level"].i = level
sess = tf.Session(config=config)
