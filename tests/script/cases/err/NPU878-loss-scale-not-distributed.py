import tensorflow as tf
from npu_bridge.npu_init import *


def optimizer_of(rate, manager):
    optimizer = tf.train.AdamOptimizer(rate)
    optimizer = npu_distributed_optimizer_wrapper(optimizer)
    return NPULossScaleOptimizer(optimizer, manager)


class Model:
    def add_optimizer(self, loss, manager):
        self.inner = tf.train.AdamOptimizer(0.1)
        self.opt = NPULossScaleOptimizer(self.inner, manager, False) if loss else None
        self.optimizer = NPULossScaleOptimizer(self.inner, manager)
        self.optimizer = NPUDistributedOptimizer(self.optimizer)
