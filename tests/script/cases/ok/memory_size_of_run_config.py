import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["min_group_size"].b = True
estimator = NPUEstimator(
    model_fn,
    config=NPURunConfig(session_config=config, graph_memory_max_size="27917287424"),
)
