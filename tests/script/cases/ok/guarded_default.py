import argparse

import tensorflow as tf
from npu_bridge.npu_init import *

parser = argparse.ArgumentParser()
parser.add_argument("--iterations", type=int, default=0)
parser.add_argument("--dump-mode", default="none")
FLAGS = parser.parse_args()

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
if FLAGS.iterations:
    custom_op.parameter_map["iterations_per_loop"].i = FLAGS.iterations
    custom_op.parameter_map["enable_data_pre_proc"].b = True
if FLAGS.dump_mode != "none":
    custom_op.parameter_map["enable_dump"].b = True
    custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes("/tmp/dump")
    custom_op.parameter_map["dump_step"].s = tf.compat.as_bytes("0")
    custom_op.parameter_map["dump_mode"].s = tf.compat.as_bytes(FLAGS.dump_mode)
sess = tf.Session(config=config)
