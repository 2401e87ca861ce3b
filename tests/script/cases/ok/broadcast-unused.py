import tensorflow as tf
from npu_bridge.npu_init import *
def npu_tf_optimizer(opt):
    return NPUDistributedOptimizer(opt)


train_op = tf.train.AdamOptimizer().minimize(tf.square(tf.Variable(1.0)))
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(train_op)
