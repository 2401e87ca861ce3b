import tensorflow as tf
from npu_bridge.npu_init import *
import tensorflow.compat.v1.train as train

queue = tf.FIFOQueue(10, tf.float32)
names = train.slice_input_producer([[1.0, 2.0]])
x = tf.train.batch(names, 8, 4)
y = tf.train.batch(names, batch_size=8, num_threads=2 * 2)
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(x)
