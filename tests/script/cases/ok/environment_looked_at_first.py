"""An environment variable that is certainly set where it is taken."""

import os

import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["enable_dump"].b = True
if "DUMP_PATH" in os.environ:
    custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes(os.environ.get("DUMP_PATH"))
else:
    custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes("/tmp/dump")
sess = tf.Session(config=config)
