import tensorflow as tf
from npu_bridge.npu_init import *
config = tf.ConfigProto(allow_soft_placement=False)
x = tf.placeholder(tf.float32)
with tf.device("/device:GPU:0"):
    a = tf.square(x)
for i in range(2):
    with tf.device("/gpu:%d" % i):
        b = tf.sqrt(x)
with tf.name_scope("c"), tf.device("/job:worker/gpu:{}".format(1)):
    c = x * 2.0
with tf.Session(config=config) as sess:
    sess.run(a)
