import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = b"allow_mix_precision"
plain = tf.ConfigProto(allow_soft_placement=True)
plain.gpu_options.allow_growth = True
given = tf.ConfigProto()
fill(given)
host = tf.ConfigProto(device_count={"GPU": 0})

with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
with tf.Session(config=plain) as sess:
    sess.run(tf.global_variables_initializer())
with tf.train.SingularMonitoredSession(config=plain) as sess:
    sess.run(tf.train.AdamOptimizer().minimize(loss))
with tf.Session(config=given) as sess:
    sess.run(tf.global_variables_initializer())
with tf.Session(config=host) as sess:
    sess.run(tf.global_variables_initializer())
creator = tf.train.ChiefSessionCreator(config=config)
with tf.train.MonitoredSession(session_creator=creator) as sess:
    sess.run(step)
