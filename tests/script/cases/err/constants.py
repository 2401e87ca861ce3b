import os

import tensorflow as tf
from npu_bridge.npu_init import *

ROOT = "/tmp"
KIND = "ALL"
COUNT = 4
LOOPS = COUNT * 2 - 8
OUTPUT = os.path.join(ROOT, "profiling")
if COUNT > 3:
    SUFFIX = "x"
else:
    SUFFIX = "y"

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["iterations_per_loop"].i = LOOPS
custom_op.parameter_map["enable_dump"].b = not False
custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes(ROOT + "/dump")
custom_op.parameter_map["dump_step"].s = tf.compat.as_bytes(str(0))
custom_op.parameter_map["dump_mode"].s = tf.compat.as_bytes("%s" % KIND)
custom_op.parameter_map["profiling_mode"].b = True
custom_op.parameter_map["profiling_options"].s = tf.compat.as_bytes(
    '{"output": "%s", "training_trace": "of{}"}'.format(SUFFIX) % OUTPUT
)
custom_op.parameter_map["op_debug_level"].i = int("7")
custom_op.parameter_map["jit_compile"].s = "{}".format("yes").encode()
sess = tf.Session(config=config)
