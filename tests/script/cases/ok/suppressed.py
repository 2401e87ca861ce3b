import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["dump_mode"].s = b"every"  # npu: ignore[NPU104]
# npu: ignore[wrong-field]
custom_op.parameter_map["hccl_timeout"].s = b"1800"
custom_op.parameter_map["dump_step"].s = tf.compat.as_bytes(
    "20-10"
)  # npu: ignore
sess = tf.Session(config=config)
