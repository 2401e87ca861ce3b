import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
SWITCHES = {"use_off_line": True, "mix_compile": True}
for name, value in SWITCHES.items():
    custom_op.parameter_map[name].b = value
for name in ("dump_mode", "dump_debug_mode"):
    custom_op.parameter_map[name].s = tf.compat.as_bytes("every")
sess = tf.Session(config=config)
