import tensorflow as tf
from npu_bridge.npu_init import *
import numpy as np

DTYPE = tf.float64
x = tf.placeholder(dtype=DTYPE, shape=[4])
w = tf.get_variable("w", [4], dtype="float64")
noise = tf.Variable(np.random.randn(4))
wave = tf.constant([1.0], dtype=np.complex64)


class Network:
    def build(self, x):
        weights = tf.Variable(np.array([0.5, 1.5]))
        return tf.cast(x, tf.double) * tf.to_double(weights)


y = Network().build(x)
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(y)
