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
with tf.Session() as sess:
    print(sess.run(tf.constant(1)))
with flow.Session() as sess:
    print(sess.run(flow.constant(2)))
