from npu_config.npu_init import *
import tensorflow as tf

graph = tf.Graph()
with graph.as_default():
    x = tf.constant(3)
options = tf.ConfigProto(allow_soft_placement=True)
with tf.Session("", graph, npu_config_proto(config_proto=options)) as sess:
    print(sess.run(x))
with tf.Session(
        '', graph=graph, config=npu_config_proto(),  # no config
) as sess:
    print(sess.run(x))
with tf.Session("", graph, npu_config_proto(config_proto=None)) as sess:
    print(sess.run(x))
with tf.Graph().as_default(), tf.Session(config=npu_config_proto()) as sess:
    print(sess.run(tf.constant(4)))
