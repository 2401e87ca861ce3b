import tensorflow as tf
from npu_bridge.npu_init import *
offset = tf.Variable(1.0)
scale = 3.0
table = tf.constant([1.0, 2.0])


def shift(x, offset=2.0):
    return x + offset


def local(x):
    offset = tf.constant(1.0)
    return x + offset


def either(x):
    return x + scale


class Normaliser:
    def __init__(self):
        self.mean = 0.5
        self.weight = tf.get_variable("weight", [3])

    def center(self, row):
        return row - self.mean

    def build(self):
        rows = tf.data.Dataset.range(8).map(self.center)
        return rows.batch(4, drop_remainder=True)


a = tf.data.Dataset.range(8).map(shift).map(local).map(either)
b = tf.data.Dataset.range(8).map(lambda i: tf.gather(table, i)).map(lambda offset: offset + 1)
c = [offset + i for i in range(3)]
d = list(map(lambda x: x + offset, [1.0, 2.0]))
x = a.batch(2, drop_remainder=True).make_one_shot_iterator().get_next() + offset
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
