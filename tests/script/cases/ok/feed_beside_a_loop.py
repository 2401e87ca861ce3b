import tensorflow as tf
from npu_bridge.npu_init import *

images = tf.placeholder(tf.float32, [None, 784])
step_op = build(images)


class Trainer:
    def __init__(self, sess):
        self.labels = tf.placeholder(tf.int64, [None])
        self.train_op = util.set_iteration_per_loop(sess, minimize(self.labels), 10)
        self.train_op = minimize(self.labels)

    def step(self, sess, batch):
        sess.run(self.train_op, feed_dict={self.labels: batch})


class Other:
    def __init__(self, train_op, labels):
        self.labels = tf.placeholder(tf.int64, [None])
        self.train_op = train_op

    def step(self, sess, batch):
        sess.run(self.train_op, feed_dict={self.labels: batch})


def looped(sess):
    train_op = util.set_iteration_per_loop(sess, step_op, 10)
    sess.run(train_op)


def evaluated(sess, train_op):
    sess.run(train_op, feed_dict={images: next(batches)})
    sess.run(step_op, feed_dict={images: next(batches)})
