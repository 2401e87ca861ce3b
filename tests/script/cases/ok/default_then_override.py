import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = b"allow_fp32_to_fp16"
if args.mixed:
    custom_op.parameter_map["precision_mode"].s = b"allow_mix_precision"
for step in range(3):
    custom_op.parameter_map["debug_dir"].s = tf.compat.as_bytes("/tmp/%d" % step)
sess = tf.Session(config=config)
