"""What the loop goes over is assigned to one variable: an operator for each batch."""

import tensorflow as tf
from npu_bridge.npu_init import *

x = tf.get_variable("x", [4], trainable=False)
batches = [[1.0] * 4, [2.0] * 4]
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(3):
        for batch in batches:
            print(sess.run(tf.reduce_sum(x)))
            sess.run(x.assign(batch))
        for v in tf.trainable_variables():
            sess.run(v.assign(v * 2.0))
