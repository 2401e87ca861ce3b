import sys
from getopt import getopt

import tensorflow as tf
from npu_bridge.npu_init import *

mode = "none"
for name, value in getopt(sys.argv[1:], "m:")[0]:
    if name == "-m":
        mode = value
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes(mode)
with tf.Session(config=config) as sess:
    sess.run(step)
