from npu_config.npu_init import *
tf = None
flow = None


def load():
    global tf, flow
    import tensorflow as tf
    import tensorflow.compat.v1 as flow


def unload():
    global flow
    flow = None


load()
with tf.Session(config=npu_config_proto()) as sess:
    print(sess.run(tf.constant(1)))
with flow.Session(config=npu_config_proto()) as sess:
    print(sess.run(flow.constant(2)))
