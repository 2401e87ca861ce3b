"""What is fed to the loop is no batch, or is no feed of the loop."""

import tensorflow as tf
from npu_bridge.estimator.npu import util

rate = tf.placeholder(tf.float32, [])
anything = tf.placeholder(tf.float32)
images = tf.placeholder(tf.float32, [None, 784])


def train(sess, optimizer, accuracy, inputs, count):
    sess.run(optimizer, feed_dict={images: batch()})
    train_op = util.set_iteration_per_loop(sess, optimizer, 10)
    sess.run(train_op, feed_dict={rate: 0.1, anything: 1, inputs: 2})
    sess.run(accuracy, feed_dict={images: batch()})
    sess.run([accuracy])


def of_unknown_count(sess, optimizer, count):
    train_op = util.set_iteration_per_loop(sess, optimizer, count)
    sess.run(train_op, feed_dict={images: batch()})


def of_one(sess, optimizer):
    train_op = util.set_iteration_per_loop(sess, optimizer, 1)
    sess.run(train_op, feed_dict={images: batch()})


def bound_twice(sess, optimizer):
    values = tf.placeholder(tf.float32, [None, 784])
    values = tf.placeholder_with_default(0.0, [])
    train_op = util.set_iteration_per_loop(sess, optimizer, 10)
    sess.run(train_op, feed_dict={values: batch()})


def own_name(sess, optimizer, images):
    train_op = util.set_iteration_per_loop(sess, optimizer, 10)
    sess.run(train_op, feed_dict={images: batch()})


def another_operation(sess, optimizer, plain):
    train_op = util.set_iteration_per_loop(sess, optimizer, 10)
    sess.run(train_op)
    train_op = plain
    sess.run(train_op, feed_dict={images: batch()})
