import tensorflow as tf
from npu_bridge.npu_init import *
THREADS = 8
record = tf.placeholder(tf.float32)
x = tf.compat.v1.train.batch([record], 8, num_threads=THREADS)
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(x)
