"""Each round of these loops assigns another variable: that is initialisation, not a step."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

w = tf.get_variable("w", [4])
loss = tf.reduce_mean(tf.square(w))
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    for v in tf.trainable_variables():
        values = sess.run(v)
        values = sess.run(tf.assign(v, np.round(values)))
        print(v.name, values.shape)
    for v, value in zip(tf.trainable_variables(), [np.zeros([4])]):
        print(sess.run(loss))
        sess.run(v.assign(value))
