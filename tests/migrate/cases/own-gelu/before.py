import math
import numpy as np
import tensorflow as tf


def gelu(x):
    """The tanh form."""
    cdf = 0.5 * (1.0 + tf.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * tf.pow(x, 3))))
    return x * cdf


def exact(x):
    return 0.5 * x * (1.0 + tf.erf(x / math.sqrt(2.0)))


def named(x, name=None):
    return 0.5 * x * (1.0 + tf.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


class Layer(object):
    def gelu(self, x):
        return 0.5 * x * (1.0 + tf.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def gelu_of_nothing():
    return gelu


with tf.Session() as sess:
    x = tf.constant(1.0)
    print([round(float(y), 3) for y in sess.run([gelu(x), exact(x), named(x), Layer().gelu(x)])])
