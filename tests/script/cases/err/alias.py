import tensorflow as tf
from npu_bridge.npu_init import *

session_config = tf.ConfigProto()
optimizers = session_config.graph_options.rewrite_options.custom_optimizers
op = optimizers.add()
op.name = "NpuOptimizer"
same = op
options = same.parameter_map
options["dump_mode"].s = tf.compat.as_bytes("ALL")
options["enable_dump"].b = True
options["dump_path"].s = tf.compat.as_bytes("/tmp/dump")
options["dump_step"].s = b"20-10"
sess = tf.Session(config=session_config)
