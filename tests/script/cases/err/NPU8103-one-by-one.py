import tensorflow as tf
from npu_bridge.npu_init import *

iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(8))
weight = tf.Variable(1.0)
added = [tf.global_variables_initializer(), tf.tables_initializer()]
added += [iterator.initializer]
with tf.control_dependencies([tf.global_variables_initializer()]):
    behind = tf.group(iterator.initializer)


def start(sess, *operations):
    sess.run(list(operations))


with tf.Session(config=npu_config_proto()) as sess:
    sess.run(added)
    sess.run(behind)
    start(sess, tf.global_variables_initializer(), iterator.initializer)
