import tensorflow as tf
from npu_bridge.npu_init import *

tf.app.flags.DEFINE_integer("iterations_per_loop", 1, "steps for each session.run")
FLAGS = tf.app.flags.FLAGS


def configured(other):
    config = tf.ConfigProto(allow_soft_placement=True)
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    if FLAGS.iterations_per_loop > 1:
        custom_op.parameter_map["enable_data_pre_proc"].b = True
    if FLAGS.iterations_per_loop >= 1 and other > 1:
        custom_op.parameter_map["iterations_per_loop"].i = FLAGS.iterations_per_loop
    return config
