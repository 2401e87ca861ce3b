import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
if args.profiling:
    custom_op.parameter_map["profiling_mode"].b = False
    custom_op.parameter_map["profiling_options"].s = b'{"output": "/tmp", "task_time": "on"}'
if args.over_dump.strip() == "True":
    custom_op.parameter_map["enable_dump_debug"].b = False
sess = tf.Session(config=config)
