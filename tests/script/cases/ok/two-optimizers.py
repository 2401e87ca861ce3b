import tensorflow as tf
from npu_bridge.npu_init import *
manager = FixedLossScaleManager(loss_scale=1024)
a, b = tf.Variable(1.0), tf.Variable(1.0)
one = NPULossScaleOptimizer(tf.train.AdamOptimizer(), manager)
other = NPULossScaleOptimizer(tf.train.AdamOptimizer(), manager)
plain = tf.train.AdamOptimizer().minimize(tf.square(b))
first = one.minimize(tf.square(a))
again = one.minimize(tf.square(b))
second = other.minimize(tf.square(b))
with tf.Session(config=npu_config_proto()) as sess:
    sess.run([first, plain])
    sess.run([first, again])
    for op in (first, second):
        sess.run(op)
