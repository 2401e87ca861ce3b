import tensorflow as tf
from npu_bridge.npu_init import *
import math

import numpy as np

INF = float("inf")
x = tf.placeholder(tf.float32, [4])
mask = tf.constant([1.0, 0.0, 0.0, 0.0])


def attention(scores):
    return tf.nn.softmax(scores + (1.0 - mask) * -np.inf)


class Network:
    def build(self, x):
        low = tf.fill([4], -INF)
        return tf.where(x > 0, x, low) + tf.constant([math.nan, 1.0])


y = attention(x) + Network().build(x) + tf.maximum(x, float("-inf"))
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(y)
