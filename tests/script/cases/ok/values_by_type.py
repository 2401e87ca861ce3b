import tensorflow as tf
from npu_bridge.npu_init import *

OPTIONS = {"graph_run_mode": 1, "hcom_parallel": True, "precision_mode": "allow_mix_precision"}
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
for name, value in OPTIONS.items():
    if isinstance(value, bool):
        custom_op.parameter_map[name].b = value
    elif type(value) is int:
        custom_op.parameter_map[name].i = value
    elif type(value) in (str,):
        custom_op.parameter_map[name].s = tf.compat.as_bytes(value)
with tf.Session(config=config) as sess:
    sess.run(step)
