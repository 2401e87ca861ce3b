import tensorflow as tf
from npu_bridge.npu_init import *
from tensorflow.train import SyncReplicasOptimizer

optimizer = SyncReplicasOptimizer(tf.train.AdamOptimizer(), replicas_to_aggregate=2)


class Sums:
    def __init__(self):
        self.sparse = tf.SparseConditionalAccumulator(tf.float32)


def build():
    return tf.compat.v1.ConditionalAccumulator(tf.float32, shape=[])


build()
with tf.Session(config=npu_config_proto()) as sess:
    pass
