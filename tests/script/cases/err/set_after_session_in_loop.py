import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
sess = tf.Session(config=config)
for name in names:
    custom_op.parameter_map["hcom_parallel"].b = True
