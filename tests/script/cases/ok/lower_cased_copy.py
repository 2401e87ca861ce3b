"""What a variable is decides what its lower-cased copy is."""

import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
mode = args.mode.lower()
if args.mode == "dump":
    custom_op.parameter_map["enable_dump"].b = True
    custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes("/tmp/dump")
if mode == "overflow":
    custom_op.parameter_map["enable_dump_debug"].b = True
    custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes("/tmp/dump")
sess = tf.Session(config=config)
