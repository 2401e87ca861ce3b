import tensorflow as tf
import npu_bridge
from tensorflow.core.framework import attr_value_pb2
from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2

rewrite_options = rewriter_config_pb2.RewriterConfig(
    remapping=rewriter_config_pb2.RewriterConfig.ON,
    memory_optimization=rewriter_config_pb2.RewriterConfig.NO_MEM_OPT,
)
graph_options = tf.GraphOptions(
    rewrite_options=rewrite_options,
    optimizer_options=tf.OptimizerOptions(global_jit_level=tf.OptimizerOptions.ON_1),
)
custom_op = graph_options.rewrite_options.custom_optimizers.add(name="NpuOptimizer")
custom_op.parameter_map["hccl_timeout"].CopyFrom(attr_value_pb2.AttrValue(s=b"1800"))
setattr(custom_op.parameter_map["graph_run_mode"], "i", 3)
config = config_pb2.ConfigProto(allow_soft_placement=False, graph_options=graph_options)
sess = tf.compat.v1.Session(config=config)
