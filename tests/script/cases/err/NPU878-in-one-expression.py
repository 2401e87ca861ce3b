import tensorflow as tf
from npu_bridge.npu_init import *

loss = tf.reduce_mean(tf.get_variable("w", [4, 1]))
manager = FixedLossScaleManager(1024)
first = NPULossScaleOptimizer(
    npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer(1e-3)), manager
)
second = npu_distributed_optimizer_wrapper(
    NPULossScaleOptimizer(tf.train.AdamOptimizer(1e-3), manager)
)
third = NPULossScaleOptimizer(
    npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer(1e-3)), manager, is_distributed=True
)


class Trainer(object):
    def optimizer(self):
        made = tf.train.AdamOptimizer()
        made = npu_distributed_optimizer_wrapper(made)
        return made

    def build(self):
        wrapped = self.optimizer()
        return NPULossScaleOptimizer(wrapped, manager).minimize(loss)


hooks = [NPUBroadcastGlobalVariablesHook(0)]
train_op = [first.minimize(loss), second.minimize(loss), third.minimize(loss), Trainer().build()]
with tf.train.MonitoredTrainingSession(config=npu_config_proto(), hooks=hooks) as sess:
    sess.run(train_op)
