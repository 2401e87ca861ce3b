import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["iterations_per_loop"].i = 10
custom_op.parameter_map["enable_data_pre_proc"].b = True
train_op = tf.train.AdamOptimizer().minimize(loss)
with tf.train.MonitoredTrainingSession(config=config, hooks=[SetIterationsVarHook(10)]) as sess:
    while not sess.should_stop():
        sess.run(train_op)
