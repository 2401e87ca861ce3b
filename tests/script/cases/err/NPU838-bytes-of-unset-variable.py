import os
import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["debug_dir"].s = tf.compat.as_bytes(os.getenv("DEBUG_DIR"))
custom_op.parameter_map["work_path"].s = tf.compat.as_bytes(os.environ.get("WORK_PATH"))
custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes(os.getenv("DUMP_PATH", "/tmp/dump"))
sess = tf.Session(config=config)
