import tensorflow as tf
from npu_bridge.npu_init import *
tf.set_random_seed(1)
optimizer = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer())
train_op = optimizer.minimize(tf.square(tf.Variable(1.0)))
with tf.train.MonitoredTrainingSession(config=npu_config_proto(), hooks=[]) as sess:
    sess.run(train_op)
