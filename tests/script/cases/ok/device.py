import tensorflow as tf
from npu_bridge.npu_init import *
config = tf.ConfigProto(allow_soft_placement=False)
x = tf.placeholder(tf.float32)
with tf.device("/cpu:0"):
    a = tf.square(x)
with tf.device("/job:ps"):
    b = tf.square(x)
with tf.Session(config=config) as sess:
    sess.run(a)
