"""The loop is made outside of every name scope, or maybe so."""

import tensorflow as tf
from npu_bridge.estimator.npu import util


def after_a_scope(sess, loss):
    with tf.name_scope("train"):
        train_op = tf.train.AdamOptimizer().minimize(loss)
    return util.set_iteration_per_loop(sess, train_op, 10)


def back_to_the_top(sess, train_op):
    with tf.name_scope("train"):
        with tf.name_scope(None):
            return util.set_iteration_per_loop(sess, train_op, 10)


def of_unknown_name(sess, train_op, name):
    with tf.name_scope("train"), tf.name_scope(name):
        return util.set_iteration_per_loop(sess, train_op, 10)


def in_another_graph(graph, train_op):
    with tf.name_scope("train"):
        with tf.Session(graph=graph) as sess:
            return util.set_iteration_per_loop(sess, train_op, 10)


def called_later(train_op):
    with tf.name_scope("train"):
        def loop(sess):
            return util.set_iteration_per_loop(sess, train_op, 10)

    return loop


def without_a_name_scope(sess, train_op):
    with tf.variable_scope("train", auxiliary_name_scope=False):
        return util.set_iteration_per_loop(sess, train_op, 10)


def without_a_loop(sess, train_op):
    with tf.name_scope("train"):
        return util.set_iteration_per_loop(sess, train_op, 1)
