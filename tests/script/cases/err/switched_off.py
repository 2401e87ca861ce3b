import tensorflow as tf
from npu_bridge.npu_init import *

DUMP = False


def get_config():
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    if DUMP:
        custom_op.parameter_map["enable_dump"].b = True
    return config
