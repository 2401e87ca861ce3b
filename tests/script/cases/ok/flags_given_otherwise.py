"""A default that never comes to the option: replaced by the script, or the flag is required."""

import argparse

import tensorflow as tf
from npu_bridge.npu_init import *

parser = argparse.ArgumentParser()
parser.add_argument("--precision_mode", default="none")
parser.add_argument("--dump_mode", default="none", required=True)
parser.add_argument(
    "--graph_run_mode",
    type=int,
    default=7,
    required=True,
)
args = parser.parse_args()
if args.precision_mode == "none":
    args.precision_mode = "allow_mix_precision"

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes(args.precision_mode)
custom_op.parameter_map["graph_run_mode"].i = args.graph_run_mode
custom_op.parameter_map["enable_dump"].b = True
custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes("/tmp/dump")
custom_op.parameter_map["dump_mode"].s = tf.compat.as_bytes(args.dump_mode)
sess = tf.Session(config=config)
