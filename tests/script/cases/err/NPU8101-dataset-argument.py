import tensorflow as tf
from npu_bridge.npu_init import *
size = tf.Variable(32, dtype=tf.int64)
count = tf.get_variable("count", [], tf.int64)
rows = tf.Variable(tf.zeros([8, 2]))


class Pipeline:
    def __init__(self):
        self.buffer = tf.Variable(100, dtype=tf.int64)
        self.data = tf.data.Dataset.range(64).shuffle(buffer_size=self.buffer)


a = tf.data.Dataset.range(64).batch(size, drop_remainder=True)
b = tf.data.TextLineDataset("x").repeat(count).take(tf.cast(size, tf.int64))
c = tf.data.Dataset.from_tensor_slices({"x": rows})
d = tf.data.Dataset.range(64).batch(tf.Variable(tf.placeholder(tf.int64)), True)
LIMITS = [tf.Variable(4, dtype=tf.int64), 7]
PAIR = (5, tf.Variable(6, dtype=tf.int64))
of_list = tf.data.Dataset.range(64).skip(LIMITS[0]).take(LIMITS[1])
of_tuple = tf.data.Dataset.range(64).skip(PAIR[-1]).take(PAIR[0])

with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
