import tensorflow as tf
from npu_bridge.npu_init import *
import numpy as np

v = tf.trainable_variables()
loss = tf.square(tf.Variable(1.0))
grads = tf.gradients(loss, v)
checked = [tf.check_numerics(g, "gradient") for g in grads]


def parse(row):
    return tf.where(tf.is_nan(row), tf.zeros_like(row), row)


data = tf.data.Dataset.from_tensor_slices([1.0]).map(parse)
labels = tf.placeholder(tf.float32, [4])
known = tf.logical_not(tf.is_nan(labels))
with tf.Session(config=npu_config_proto()) as sess:
    print(np.isfinite(sess.run(grads)))
