"""The operation that set_iteration_per_loop gives back is read, here or maybe elsewhere."""

import tensorflow as tf
from npu_bridge.estimator.npu import util


def read_next_time_round(sess, train_op):
    while sess.run(train_op) is None:
        train_op = util.set_iteration_per_loop(sess, train_op, 10)
        tf.reset_default_graph()


def read_in_a_closure(sess, train_op):
    def step():
        return sess.run(looped)

    looped = util.set_iteration_per_loop(sess, train_op, 10)
    return step


def in_a_list(sess, train_op):
    ops = [util.set_iteration_per_loop(sess, train_op, 10)]
    return ops


def returned(sess, train_op):
    return util.set_iteration_per_loop(sess, train_op, 10)


def bound_for_all(sess, train_op):
    global everywhere
    everywhere = util.set_iteration_per_loop(sess, train_op, 10)


def of_another_object(sess, model):
    model.train_op = util.set_iteration_per_loop(sess, model.train_op, 10)


def read_in_a_branch(sess, train_op, npu):
    if npu:
        train_op = util.set_iteration_per_loop(sess, train_op, 10)
    sess.run(train_op)


def no_loop(sess, train_op):
    looped = util.set_iteration_per_loop(sess, train_op, 1)
    again = util.set_iteration_per_loop(sess, train_op)
    util.set_iteration_per_loop(sess, train_op, iterations_per_loop=1)


class Trainer:
    """Its attributes may be read by whoever has one: this is no program."""

    def __init__(self, sess, optimizer):
        self.train_op = util.set_iteration_per_loop(sess, optimizer, 10)


exported_op = util.set_iteration_per_loop(tf.Session(), Trainer, 10)
