import tensorflow as tf
from npu_bridge.npu_init import *
it = tf.data.make_initializable_iterator(tf.data.Dataset.range(8))
other = tf.data.make_initializable_iterator(tf.data.Dataset.range(8))
w = tf.Variable(1.0)
group = tf.group(it.initializer, other.initializer, tf.tables_initializer())
steps = [tf.global_variables_initializer(), tf.local_variables_initializer()]
scaffold = tf.train.Scaffold(local_init_op=tf.group(tf.tables_initializer(), it.initializer))
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(steps)
    sess.run(group)
    sess.run([it.initializer, other.initializer])
    sess.run(it.initializer, feed_dict={w: 1.0})
    for op in (tf.global_variables_initializer(), it.initializer):
        sess.run(op)
