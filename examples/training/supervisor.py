"""Softmax regression under tf.train.Supervisor, which freezes the graph: the loop in two steps."""
# ruff: noqa: F403, F405

import argparse
import tempfile

import iris

from npu_config.npu_init import *

import tensorflow.compat.v1 as tf  # isort: skip - the star import brings a tf of its own

ITERATIONS_PER_LOOP = 10


def train(steps, model_dir):
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

    loop = util.IterationPerLoop()
    train_op = loop.create_iteration_per_loop_var(train_op)
    supervisor = tf.train.Supervisor(logdir=model_dir, summary_op=None)
    config = npu_config_proto(iris.session_config(ITERATIONS_PER_LOOP))
    with supervisor.managed_session(config=config) as sess:
        sess.run(iterator.initializer)
        loop.load_iteration_per_loop_var(sess, ITERATIONS_PER_LOOP)
        while sess.run(step) < steps:
            sess.run(train_op)
        return float(sess.run(accuracy))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--model-dir", default=None)
    arguments = parser.parse_args()
    tf.disable_eager_execution()
    directory = arguments.model_dir or tempfile.mkdtemp()
    print("accuracy {:.3f}".format(train(arguments.steps, directory)))
