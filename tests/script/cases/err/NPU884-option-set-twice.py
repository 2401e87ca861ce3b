import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
if args.dynamic_input == "1":
    custom_op.parameter_map["dynamic_graph_execute_mode"].s = b"dynamic_execute"
elif args.dynamic_input == "2":
    custom_op.parameter_map["dynamic_graph_execute_mode"].s = b"lazy_recompile"
custom_op.parameter_map["dynamic_graph_execute_mode"].s = b"lazy_recompile"
custom_op.parameter_map["debug_dir"].s = b"/tmp/one"
custom_op.parameter_map["debug_dir"].s = b"/tmp/two"
custom_op.parameter_map["hcom_parallel"].b = True
custom_op.parameter_map["hcom_parallel"].b = True
custom_op.parameter_map["jit_compile"].b = True
custom_op.parameter_map["jit_compile"].s = b"auto"
sess = tf.Session(config=config)
