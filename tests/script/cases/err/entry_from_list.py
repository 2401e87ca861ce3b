import tensorflow as tf
from npu_bridge.npu_init import *

config = npu_config_proto(config_proto=tf.ConfigProto())
for optimizer in config.graph_options.rewrite_options.custom_optimizers:
    if optimizer.name == "NpuOptimizer":
        custom_op = optimizer
custom_op.parameter_map["precison_mode"].s = tf.compat.as_bytes("allow_mix_precision")
first = config.graph_options.rewrite_options.custom_optimizers[0]
first.parameter_map["graph_run_mode"].i = 2
sess = tf.Session(config=config)
