import tensorflow as tf
from npu_bridge.npu_init import *
data = tf.data.Dataset.range(8)
it = tf.compat.v1.data.make_initializable_iterator(data)
w = tf.Variable(1.0)


def start(iterator):
    return tf.group(tf.global_variables_initializer(), iterator.initializer)


class Trainer:
    def __init__(self):
        self.iterator = tf.data.Iterator.from_structure(tf.int64)
        self.begin = self.iterator.make_initializer(data)
        self.init = tf.global_variables_initializer()

    def train(self, sess):
        sess.run((self.init, self.begin))


steps = [tf.global_variables_initializer()]
steps.append(it.initializer)
scaffold = tf.train.Scaffold(init_op=tf.group(tf.global_variables_initializer(), it.initializer))
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(steps)
    sess.run(start(it))
    sess.run([w.initializer] + [it.initializer])
    tf.group(tf.initializers.global_variables(), it.initializer).run()
    sess.run({"a": tf.global_variables_initializer(), "b": it.initializer})
