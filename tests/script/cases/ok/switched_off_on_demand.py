"""A flag that asks for no profiling may switch it off."""

import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
if args.disable_profiling:
    custom_op.parameter_map["profiling_mode"].b = False
if args.no_dump:
    custom_op.parameter_map["enable_dump"].b = False
if args.professional:
    custom_op.parameter_map["enable_dump_debug"].b = False
sess = tf.Session(config=config)
