import tensorflow as tf
from npu_bridge.npu_init import *


class Trainer:
    level = 5

    def __init__(self):
        self.mode = "none"
        self.read_arguments()
        self.config = self.session_config()

    def read_arguments(self):
        self.mode = "allow_mix_precision"

    def session_config(self):
        config = tf.ConfigProto()
        custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
        custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes(self.mode)
        custom_op.parameter_map["graph_run_mode"].i = self.level
        return config


Trainer.level = 1
trainer = Trainer()
with tf.Session(config=trainer.config) as sess:
    sess.run(step)
