import tensorflow as tf
from npu_bridge.npu_init import *
manager = FixedLossScaleManager(loss_scale=1024)
a, b = tf.Variable(1.0), tf.Variable(1.0)
one = NPULossScaleOptimizer(tf.train.AdamOptimizer(), manager)
other = NPULossScaleOptimizer(tf.train.AdamOptimizer(), manager)
first = one.minimize(tf.square(a))
second = other.apply_gradients(other.compute_gradients(tf.square(b)))
both = tf.group(first, second)


class Gan:
    def __init__(self):
        self.g = NPULossScaleOptimizer(tf.train.AdamOptimizer(), manager).minimize(tf.square(a))
        self.d = NPUOptimizer(tf.train.AdamOptimizer(), is_loss_scale=True).minimize(tf.square(b))

    def train(self, sess):
        fetches = {"g": self.g, "d": self.d}
        return sess.run(fetches)


with tf.Session(config=npu_config_proto()) as sess:
    sess.run(both)
    sess.run((first, second, a))
