import tensorflow as tf
from npu_bridge.npu_init import *
def read(names):
    queue = tf.compat.v1.train.string_input_producer(names, shuffle=True)
    return tf.TFRecordReader().read(queue)


with tf.Session(config=npu_config_proto()) as sess:
    coordinator = tf.train.Coordinator()
    tf.train.start_queue_runners(sess=sess, coord=coordinator)
    sess.run(read(["a"]))
