import tensorflow as tf
from npu_bridge.npu_init import *

sess = tf.Session()
train_op = util.set_iteration_per_loop(sess, train_op, 10)
for step in range(100):
    sess.run(train_op)
