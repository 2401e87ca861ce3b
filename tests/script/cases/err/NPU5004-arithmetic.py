import tensorflow as tf
from npu_bridge.npu_init import *

v = tf.get_variable("v", [4])
loss = tf.reduce_sum(v)
parts = tf.split(v, 2)
others = [loss]
train_op = tf.train.AdamOptimizer().minimize(loss)
average = tf.train.ExponentialMovingAverage(0.9)


class Trainer(object):
    def __init__(self):
        self.loss = self.make_loss()

    def make_loss(self):
        return tf.reduce_mean(v)

    def train(self, sess):
        for _ in range(10):
            sess.run([train_op, self.loss / 2])


with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(10):
        sess.run(-loss)
        sess.run([train_op, loss + i])
        sess.run({"first": v[0], "positive": v > 0})
        (loss * 2).eval()
        sess.run(average.apply([v]))
        sess.run(tf.report_uninitialized_variables())
        sess.run([parts[0], others[0], parts + others, v == 0])
    Trainer().train(sess)
