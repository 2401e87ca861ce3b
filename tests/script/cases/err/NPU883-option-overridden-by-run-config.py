import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["enable_dump_debug"].b = True
custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes("/tmp/dump")
custom_op.parameter_map["graph_run_mode"].i = 0
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
run_config = NPURunConfig(session_config=config, precision_mode="must_keep_origin_dtype")
estimator = NPUEstimator(model_fn, config=run_config)
