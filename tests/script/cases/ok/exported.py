import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["iterations_per_loop"].i = 10
custom_op.parameter_map["enable_data_pre_proc"].b = True


def get_config():
    other = tf.ConfigProto()
    op = other.graph_options.rewrite_options.custom_optimizers.add()
    op.name = "NpuOptimizer"
    return other
