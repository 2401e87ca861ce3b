"""Another library parses the arguments, and may turn text into True."""

import configargparse as argparse

import tensorflow as tf
from npu_bridge.npu_init import *

parser = argparse.ArgumentParser()
parser.add_argument("--over_dump", default=False)
args = parser.parse_args()
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
if args.over_dump is True:
    custom_op.parameter_map["enable_dump_debug"].b = True
    custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes("/tmp/dump")
config.graph_options.rewrite_options.memory_optimization = 1
sess = tf.Session(config=config)
