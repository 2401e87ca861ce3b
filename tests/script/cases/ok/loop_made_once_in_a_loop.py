"""Loops of Python in which the operation is made once, or in a graph of its own each time."""

import tensorflow as tf
from npu_bridge.estimator.npu import util


def at_the_first_step(sess, optimizer):
    for step in range(100):
        if step == 0:
            train_op = util.set_iteration_per_loop(sess, optimizer, 10)
        sess.run(train_op)


def when_there_is_none(sess, optimizer):
    train_op = None
    while True:
        if train_op is None:
            train_op = util.set_iteration_per_loop(sess, optimizer, 10)
        sess.run(train_op)


def when_the_list_is_empty(sess, optimizer):
    ops = []
    for step in range(100):
        if not ops:
            ops.append(util.set_iteration_per_loop(sess, optimizer, 10))
        sess.run(ops)


class Trainer:
    train_op = None

    def train(self, sess, optimizer):
        for step in range(100):
            if self.train_op is None:
                self.train_op = util.set_iteration_per_loop(sess, optimizer, 10)
            sess.run(self.train_op)


def a_graph_each(builds):
    for build in builds:
        with build().as_default():
            sess = tf.InteractiveSession()
            sess.run(util.set_iteration_per_loop(sess, build.optimizer, 10))


def reset_each(sess, builds):
    for build in builds:
        tf.reset_default_graph()
        sess.run(util.set_iteration_per_loop(sess, build(), 10))


def left_after_one(sess, ops):
    for op in ops:
        train_op = util.set_iteration_per_loop(sess, op, 10)
        sess.run(train_op)
        break


def left_before(sess, ops):
    for op in ops:
        if op.is_done:
            continue
        sess.run(util.set_iteration_per_loop(sess, op, 10))


def run_once(sess, op):
    for _ in range(1):
        op = util.set_iteration_per_loop(sess, op, 10)
    for only in [sess]:
        only.run(op)


def after_the_loop(sess, ops):
    for op in ops:
        sess.run(op)
    else:
        return util.set_iteration_per_loop(sess, op, 10)


def on_a_failure(sess, op):
    while True:
        try:
            sess.run(op)
        except ValueError:
            op = util.set_iteration_per_loop(sess, op, 10)


def made_by_another(sess, op):
    for step in range(100):
        run = lambda: sess.run(util.set_iteration_per_loop(sess, op, 10))
    run()


def no_loop(sess, op):
    for step in range(100):
        sess.run(util.set_iteration_per_loop(sess, op, 1))
