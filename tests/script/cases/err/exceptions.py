import tensorflow as tf

config = tf.ConfigProto()
try:
    from npu_bridge.npu_init import *

    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["variable_placement"].s = tf.compat.as_bytes("host")
except ImportError:
    config.gpu_options.allow_growth = True
finally:
    sess = tf.Session(config=config)
