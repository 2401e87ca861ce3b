import tensorflow as tf
from npu_bridge.npu_init import *
import tensorflow as other


def load(path):
    return tf.py_func(len, [path], tf.float32)


def decode(path):
    return load(path)


def parse_example(record):
    return tf.py_function(len, [record], tf.float32)


class Reader:
    def read(self, path):
        return tf.numpy_function(len, [path], tf.float32)

    def data(self):
        return tf.data.Dataset.list_files("*").map(self.read, num_parallel_calls=4)


a = tf.data.Dataset.list_files("*").map(decode).map(lambda r: tf.py_func(len, [r], tf.float32))
with npu_scope.without_npu_compile_scope():
    b = tf.py_func(len, [1.0], tf.float32)
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(a.make_one_shot_iterator().get_next())
