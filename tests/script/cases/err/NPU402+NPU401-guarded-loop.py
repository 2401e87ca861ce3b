import tensorflow as tf
from npu_bridge.npu_init import *

tf.app.flags.DEFINE_integer("iterations_per_loop", 1, "steps for each session.run")
FLAGS = tf.app.flags.FLAGS


def configured():
    config = tf.ConfigProto(allow_soft_placement=True)
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    if FLAGS.iterations_per_loop > 1:
        custom_op.parameter_map["enable_data_pre_proc"].b = False
        custom_op.parameter_map["iterations_per_loop"].i = int(FLAGS.iterations_per_loop)
    return config


def at_least_two(steps):
    config = tf.ConfigProto(allow_soft_placement=True)
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    if steps < 2:
        custom_op.parameter_map["iterations_per_loop"].i = 1
    else:
        custom_op.parameter_map["mix_compile_mode"].b = True
        custom_op.parameter_map["enable_data_pre_proc"].b = True
        custom_op.parameter_map["iterations_per_loop"].i = steps
    return config
