import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
if mode == "loop":
    custom_op.parameter_map["iterations_per_loop"].i = 10
elif mode == "mixed":
    custom_op.parameter_map["mix_compile_mode"].b = True
else:
    custom_op.parameter_map["iterations_per_loop"].i = 0
custom_op.parameter_map["enable_data_pre_proc"].b = mode != "loop"
if mode == "loop":
    custom_op.parameter_map["enable_data_pre_proc"].b = False
train_op = util.set_iteration_per_loop(None, train_op, 10)
sess = tf.Session(config=config)
