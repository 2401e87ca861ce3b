import tensorflow as tf
from npu_bridge.npu_init import *
import math

import numpy as np

best = -np.inf
worst = float("inf")
table = np.full([4], np.inf)
x = tf.placeholder(tf.float32, [4])


def parse(row):
    return tf.where(row > 0, row, tf.fill([4], -np.inf))


data = tf.data.Dataset.from_tensor_slices([1.0]).map(parse)
y = tf.where(x > 0, x, tf.fill([4], -1e4))
with tf.Session(config=npu_config_proto()) as sess:
    loss = sess.run(y)
    if loss < worst and not math.isinf(loss):
        worst = min(loss, np.inf)
    print(best + 1, worst)
