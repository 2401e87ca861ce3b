import tensorflow as tf
from npu_bridge.npu_init import *

config = NPURunConfig(
    model_dir="out", iterations_per_loop=10, dump_config=DumpConfig(dump_path="/tmp")
)
estimator = tf.estimator.Estimator(model_fn=model_fn, config=config)

session_config = tf.ConfigProto()
custom_op = session_config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["iterations_per_loop"].i = 10
custom_op.parameter_map["enable_data_pre_proc"].b = True
session_config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
session_config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
run_config = tf.estimator.RunConfig(session_config=session_config)
other = tf.estimator.Estimator(model_fn, config=npu_run_config_init(run_config=run_config))
