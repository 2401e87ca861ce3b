import tensorflow as tf
from npu_bridge.npu_init import *
EPS = 1e-12
x = tf.placeholder(tf.float32, [4])
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")


class Network:
    def __init__(self):
        self.eps = 0.00000001

    def norm(self, x):
        mean, variance = tf.nn.moments(x, [0])
        return (x - mean) * tf.rsqrt(variance + self.eps)


def loss(labels, logits):
    probability = tf.nn.softmax(logits)
    clipped = tf.clip_by_value(probability, 1e-10, 1.0)
    return -tf.reduce_sum(labels * tf.log(clipped)) / (tf.reduce_sum(labels) + EPS)


y = tf.div(x, tf.maximum(tf.norm(x), 1e-9)) + Network().norm(x) + loss(x, x)
with tf.Session(config=config) as sess:
    sess.run(y)
