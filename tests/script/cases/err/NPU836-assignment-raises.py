import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = "allow_mix_precision"
custom_op.parameter_map["dump_step"].s = tf.compat.as_bytes(0)
custom_op.parameter_map["use_off_line"].b = "True"
custom_op.parameter_map["graph_run_mode"].i = "1"
custom_op.parameter_map["hccl_timeout"].i = 1800.5
custom_op.parameter_map["op_wait_timeout"].i = None
custom_op.parameter_map["debug_dir"].s = tf.compat.as_bytes(None)
custom_op.parameter_map["work_path"].s = 3
custom_op.parameter_map["hcom_parallel"].b = "yes"
sess = tf.Session(config=config)
