import tensorflow as tf
from npu_bridge.npu_init import *

w = tf.get_variable("w", [4])
optimizer = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer())
step = optimizer.minimize(tf.reduce_sum(tf.square(w)))
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    (value,) = sess.run(hccl_ops.broadcast([w], 0))
    w.load(value, sess)
    sess.run(step)
