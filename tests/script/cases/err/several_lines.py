import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["enable_dump"].b = (
    True
)
custom_op.parameter_map[
    "dump_pth"
].s = tf.compat.as_bytes(
    "/tmp/"  # a comment, with ) and "
    "dump"
)
custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes("/tmp/dump"); custom_op.parameter_map["dump_step"].s = tf.compat.as_bytes("1-2-3")
custom_op.parameter_map["profiling_options"].s = tf.compat.as_bytes("""{
  "output": "/tmp"
""")
sess = tf.Session(config=config)
