import os

from settings import MODE, options

import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes(MODE)
custom_op.parameter_map["dump_mode"].s = tf.compat.as_bytes(options["dump_mode"])
custom_op.parameter_map["hccl_timeout"].i = int(os.environ["HCCL_TIMEOUT"])
custom_op.parameter_map["debug_dir"].s = tf.compat.as_bytes(os.environ["DEBUG_DIR"])
custom_op.parameter_map["work_path"].s = tf.compat.as_bytes(input())
if os.getenv("OP_DEBUG"):
    custom_op.parameter_map["op_debug_config"].s = tf.compat.as_bytes(os.getenv("OP_DEBUG"))
sess = tf.Session(config=config)
