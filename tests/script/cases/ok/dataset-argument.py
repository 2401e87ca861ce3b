import tensorflow as tf
from npu_bridge.npu_init import *
size = tf.placeholder(tf.int64, [])
limit = tf.Variable(32, dtype=tf.int64)


def build(limit):
    return tf.data.Dataset.range(64).batch(limit, drop_remainder=True)


class Bag:
    def batch(self, size):
        return size

    def take(self, size):
        return size


a = tf.data.Dataset.range(64).skip(size).batch(4, drop_remainder=True)
b = Bag().batch(limit)
c = Bag().take(limit)
with tf.Session(config=npu_config_proto()) as sess:
    sess.run([tf.global_variables_initializer()])
