import tensorflow as tf
from npu_bridge.npu_init import *
from npu_config import NpuConfig

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"


class Options(object):
    def __init__(self, entry):
        self.entry = entry

    @property
    def mode(self):
        return None

    @mode.setter
    def mode(self, value):
        self.entry.parameter_map["precision_mode"].s = tf.compat.as_bytes(value)


options = Options(custom_op)
options.mode = "allow_mix"
with tf.Session(config=config) as sess:
    sess.run(train_op)

NpuConfig.load("some.yaml").evolve(jit_compile="maybe").to_config_proto()
run_config = NPURunConfig(precision_mode="allow_mix_precision")
NPUEstimator(model_fn=model_fn, config=run_config.replace(graph_run_mode=7))
