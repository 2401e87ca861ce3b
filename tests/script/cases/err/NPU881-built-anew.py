import tensorflow as tf
from npu_bridge.npu_init import *

def make_config(flags):
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
    return config

config = make_config(FLAGS)
config.graph_options.rewrite_options.custom_optimizers[0].parameter_map["enable_data_pre_proc"].b = True
config = make_config(FLAGS)
with tf.Session(config=config) as sess:
    sess.run("train")
