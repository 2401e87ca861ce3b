import tensorflow as tf
from npu_bridge.npu_init import *
v = tf.trainable_variables()
loss = tf.square(tf.Variable(1.0))
grads = tf.gradients(loss, v)
pairs = tf.train.AdamOptimizer().compute_gradients(loss)
a = tf.reduce_all([tf.reduce_all(tf.is_finite(g)) for g in grads])
checks = []
for delta, _ in pairs:
    checks.append(tf.math.is_nan(delta))


def guard(loss):
    flat = tf.concat([tf.reshape(g, [-1]) for g in tf.gradients(loss, v)], 0)
    return tf.reduce_all(tf.debugging.is_finite(flat))


c = guard(loss)
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(a)
