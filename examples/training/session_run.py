"""Softmax regression by session.run, ten steps on the device for each call."""
# ruff: noqa: F403, F405

import argparse

import iris

from npu_config.npu_init import *

import tensorflow.compat.v1 as tf  # isort: skip - the star import brings a tf of its own

ITERATIONS_PER_LOOP = 10


def train(steps):
    """Train so many steps; returns the share of flowers that are recognised."""
    iterator = tf.data.make_initializable_iterator(iris.training_data())
    features, labels = iterator.get_next()
    with tf.variable_scope("model"):
        loss = iris.cross_entropy(labels, iris.softmax_regression(features))
    train_op = iris.train_operation(loss)
    with tf.variable_scope("model", reuse=True):
        flowers, species = iris.load()
        found = tf.argmax(iris.softmax_regression(flowers), axis=1, output_type=tf.int32)
        accuracy = tf.reduce_mean(tf.cast(tf.equal(found, species), tf.float32))
    step = tf.train.get_global_step()
    init = tf.global_variables_initializer()

    config = npu_config_proto(iris.session_config(ITERATIONS_PER_LOOP))
    with tf.Session(config=config) as sess:
        sess.run(init)
        sess.run(iterator.initializer)
        train_op = util.set_iteration_per_loop(sess, train_op, ITERATIONS_PER_LOOP)
        while sess.run(step) < steps:
            sess.run(train_op)
        return float(sess.run(accuracy))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=400)
    tf.disable_eager_execution()
    print("accuracy {:.3f}".format(train(parser.parse_args().steps)))
