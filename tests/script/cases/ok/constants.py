import tensorflow as tf
from npu_bridge.npu_init import *
import numpy as np

EPS = 1e-12
LARGE = 1e-4
x = tf.placeholder(tf.float32, [4])
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")


def precision(found, wanted):
    return found / (wanted + 1e-10)


optimizer = tf.train.AdamOptimizer(1e-9, epsilon=1e-8)
y = x / (tf.reduce_sum(x) + LARGE) + x * EPS + x / 1e-9
layer = tf.layers.batch_normalization(x, epsilon=1e-12)
with npu_scope.keep_dtype_scope():
    z = x / (tf.reduce_sum(x) + EPS)
with tf.Session(config=config) as sess:
    value = sess.run(y)
    print(value / (np.sum(value) + 1e-10), precision(1, 2))
