import tensorflow as tf
from npu_bridge.estimator.npu import util


def bound_and_forgotten(sess, optimizer, loss):
    train_op = util.set_iteration_per_loop(sess, optimizer, 10)
    for step in range(100):
        sess.run([optimizer, loss])


def dropped(sess, optimizer, count):
    util.set_iteration_per_loop(sess, optimizer, count)
    sess.run(optimizer)


def read_before(sess, train_op):
    sess.run(train_op)
    train_op = util.set_iteration_per_loop(sess, train_op, iterations_per_loop=10)


def of_another_function(sess, train_op):
    sess.run(train_op)


def before_the_session(graph, train_op):
    loop = util.IterationPerLoop()
    iteration_op = loop.create_iteration_per_loop_var(train_op)
    with tf.Session(graph=graph) as sess:
        loop.load_iteration_per_loop_var(sess, 10)
        sess.run(train_op)


class Trainer:
    def __init__(self, sess, optimizer):
        self.optimizer = optimizer
        self.loop_op = util.set_iteration_per_loop(sess, optimizer, 10)

    def step(self, sess):
        sess.run(self.optimizer)


if __name__ == "__main__":
    sess = tf.Session()
    looped = util.set_iteration_per_loop(sess, Trainer(sess, build()).optimizer, 10)
    sess.run(build())
