import tensorflow as tf
from npu_bridge.npu_init import *


class Trainer(object):
    def __init__(self, args):
        self.mode = "allow_mixed_precision"
        self.config = tf.ConfigProto()
        self.args = args

    def build(self):
        custom_op = self.config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
        custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes(self.mode)
        custom_op.parameter_map["hcom_parallel"].i = 1
        return tf.Session(config=self.config)
