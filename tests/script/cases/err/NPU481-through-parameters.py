import functools

import tensorflow as tf
from npu_bridge.npu_init import *


class Shift:
    def __init__(self, by):
        self.by = by

    def __call__(self, value):
        return value + self.by


def scaled(value, scale):
    return value * scale


weights = {"first": tf.Variable(1.0), "second": 2.0}
factor = tf.Variable(3.0)
a = tf.data.Dataset.range(8).map(Shift(factor))
b = tf.data.Dataset.range(8).map(functools.partial(scaled, scale=factor))
c = tf.data.Dataset.range(8).map(lambda value: value * weights["first"] + weights["second"])
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
