"""TensorFlow of one of two kinds."""
from __future__ import print_function
from npu_config.npu_init import *
try:
    import tensorflow.compat.v1 as tf
    tf.disable_eager_execution()
except ImportError:
    import tensorflow as tf


def run(value):
    from tensorflow.python.client.session import Session as Made
    with Made(config=npu_config_proto()) as sess:
        return sess.run(value)


x = tf.constant(7)
with tf.Session(config=npu_config_proto()) as sess:
    print(sess.run(x), run(x))
