import tensorflow as tf
from npu_bridge.npu_init import *
from functools import partial

offset = tf.Variable(1.0)
scale = tf.compat.v1.get_variable("scale", [])
doubled = offset * 2.0


def shift(x, by=None):
    return x + offset


def through(x):
    return shift(x)


class Normaliser:
    def __init__(self):
        self.mean = tf.get_variable("mean", [3])

    def center(self, row):
        return row - self.mean

    def build(self):
        rows = tf.data.TFRecordDataset(["a"]).map(self.center)
        return rows.batch(4, drop_remainder=True)


a = tf.data.Dataset.range(8).map(partial(shift, by=1)).filter(lambda x: x > scale)
b = tf.data.Dataset.range(8).flat_map(lambda x: tf.data.Dataset.from_tensors(x + doubled))
c = tf.data.Dataset.range(8).apply(tf.data.experimental.map_and_batch(through, 4, 1, True))
d = tf.data.Dataset.from_generator(lambda v: [v], tf.float32, args=(offset,))
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
