import tensorflow as tf
from npu_bridge.estimator import npu_ops

# from npu_bridge.npu_init import *
npu_init = npu_ops.initialize_system()
config = tf.ConfigProto(allow_soft_placement=True)
config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
