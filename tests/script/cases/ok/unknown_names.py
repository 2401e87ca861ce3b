import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
for name, value in read_options("npu.cfg"):
    custom_op.parameter_map[name].i = value
custom_op.parameter_map["iterations_per_loop"].i = 10
train_op = util.set_iteration_per_loop(None, train_op, 10)
sess = tf.Session(config=config)
