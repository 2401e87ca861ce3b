import tensorflow as tf
from npu_bridge.npu_init import *


class Pipeline(object):
    def __init__(self):
        self.dataset = tf.data.Dataset.range(8)
        self.iterator = tf.data.make_initializable_iterator(self.dataset)


class Trainer(object):
    def __init__(self):
        self.pipeline = Pipeline()
        self.init = tf.global_variables_initializer()

    def train(self, sess):
        sess.run([self.init, self.pipeline.iterator.initializer])


def wait(sess):
    iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(8))
    with tf.control_dependencies([iterator.initializer]):
        init = tf.global_variables_initializer()
    sess.run(init)


with tf.Session(config=npu_config_proto()) as session:
    Trainer().train(session)
    wait(session)
