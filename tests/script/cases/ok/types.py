import tensorflow as tf
from npu_bridge.npu_init import *
import numpy as np

rows = np.random.randn(4)
half = np.float64(1.0)
x = tf.placeholder(tf.float32, [4])
w = tf.Variable(np.random.randn(4).astype(np.float32))
v = tf.Variable(np.random.randn(4), dtype=tf.float32)
n = tf.constant(np.array([1, 2]))
z = tf.constant(np.zeros([4], np.float32))


def parse(row):
    return tf.cast(row, tf.float64)


def decode(row):
    return tf.cast(parse(row), tf.float32)


data = tf.data.Dataset.from_tensor_slices(rows).map(decode)
with tf.Session(config=npu_config_proto()) as sess:
    print(np.float64(sess.run(w)), rows.astype("float64"))
