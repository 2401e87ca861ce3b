import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimiser"
custom_op.parameter_map["precision_mode"].s = "allow_mixed_precision"
custom_op.parameter_map["iterations_per_loop"].s = tf.compat.as_bytes("10")
custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes("./dump")

with tf.Session(config=config) as sess:
    sess.run(train_op)
