import argparse

import tensorflow as tf
from npu_bridge.npu_init import *

parser = argparse.ArgumentParser()
parser.add_argument("--data_dump", action="store_true")
parser.add_argument("--over_dump", action="store_true")
args = parser.parse_args()

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
if args.data_dump:
    custom_op.parameter_map["enable_dump"].b = True
    custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes("/tmp/dump")
    custom_op.parameter_map["dump_step"].s = tf.compat.as_bytes("0")
if args.over_dump:
    custom_op.parameter_map["enable_dump_debug"].b = True
    custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes("/tmp/overflow")
sess = tf.Session(config=config)
