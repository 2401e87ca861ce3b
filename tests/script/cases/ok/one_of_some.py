import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
if FLAGS.mode in ("mixed", "keep"):
    custom_op.parameter_map["precision_mode_v2"].s = tf.compat.as_bytes("mixed_float16")
if FLAGS.mode == "old":
    custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
with tf.Session(config=config) as sess:
    sess.run(step)
