import tensorflow as tf
from npu_bridge.npu_init import *
v = tf.trainable_variables()
loss = tf.square(tf.Variable(1.0))
plain = tf.train.AdamOptimizer()
optimizer = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer())
grads = optimizer.compute_gradients(loss)
norm = tf.global_norm(tf.gradients(loss, v))
a = optimizer.apply_gradients([(tf.clip_by_value(g, -1, 1), x) for g, x in grads])
b = plain.apply_gradients(zip(tf.gradients(loss, v), v))
hooks = [NPUBroadcastGlobalVariablesHook(0)]
with tf.train.MonitoredTrainingSession(config=npu_config_proto(), hooks=hooks) as sess:
    sess.run(a)
