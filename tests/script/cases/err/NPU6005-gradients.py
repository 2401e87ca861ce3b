import tensorflow as tf
from npu_bridge.npu_init import *
v = tf.trainable_variables()
loss = tf.square(tf.Variable(1.0))
optimizer = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer())
grads, _ = tf.clip_by_global_norm(tf.gradients(loss, v), 5.0)
a = optimizer.apply_gradients(zip(grads, v))
b = optimizer.apply_gradients([(tf.clip_by_value(g, -1, 1), x) for g, x in zip(tf.gradients(loss, v), v)])


class Trainer:
    def __init__(self):
        self.opt = NPUDistributedOptimizer(tf.train.AdamOptimizer())
        self.grads = tf.compat.v1.gradients(loss, v)
        self.train_op = self.opt.apply_gradients(list(zip(self.grads, v)))


hooks = [NPUBroadcastGlobalVariablesHook(0)]
with tf.train.MonitoredTrainingSession(config=npu_config_proto(), hooks=hooks) as sess:
    sess.run(a)
