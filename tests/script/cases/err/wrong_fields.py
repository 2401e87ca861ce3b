import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["op_debug_level"].s = tf.compat.as_bytes("2")
custom_op.parameter_map["jit_compile"].b = False
custom_op.parameter_map["enable_dump"].s = tf.compat.as_bytes("True")
custom_op.parameter_map["dump_step"].i = 5
custom_op.parameter_map["dump_path"].b = True
custom_op.parameter_map["precision_mode"].i = 1
sess = tf.Session(config=config)
