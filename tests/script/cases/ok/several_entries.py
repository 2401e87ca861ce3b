import tensorflow as tf
from npu_bridge.npu_init import *

train_config = tf.ConfigProto()
custom_op = train_config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["iterations_per_loop"].i = 10
custom_op.parameter_map["enable_data_pre_proc"].b = True
test_config = tf.ConfigProto()
custom_op = test_config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["mix_compile_mode"].b = True
other = test_config.graph_options.rewrite_options.custom_optimizers.add()
other.name = "GradFusionOptimizer"
with tf.Session(config=train_config) as sess:
    train_op = util.set_iteration_per_loop(sess, train_op, 10)
    sess.run(train_op)
with tf.Session(config=test_config) as sess:
    sess.run("test")
