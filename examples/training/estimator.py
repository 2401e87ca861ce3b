"""Softmax regression with TensorFlow's own Estimator, ten steps on the device for each call."""
# ruff: noqa: F403, F405

import argparse
import tempfile

import iris

from npu_config.npu_init import *

import tensorflow.compat.v1 as tf  # isort: skip - the star import brings a tf of its own

ITERATIONS_PER_LOOP = 10


def model_fn(features, labels, mode):
    """The model; in training its train_op is grouped under the name that the runtime looks for."""
    scores = iris.softmax_regression(features)
    loss = iris.cross_entropy(labels, scores)
    if mode == tf.estimator.ModeKeys.EVAL:
        found = tf.argmax(scores, axis=1)
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, eval_metric_ops={"accuracy": tf.metrics.accuracy(labels, found)}
        )
    train_op = tf.group(iris.train_operation(loss), name="IterationOp")
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def train(steps, model_dir):
    """Train so many steps; returns the share of flowers that are recognised."""
    run_config = tf.estimator.RunConfig(
        model_dir=model_dir,
        session_config=iris.session_config(ITERATIONS_PER_LOOP),
        save_checkpoints_steps=steps,
    )
    estimator = tf.estimator.Estimator(model_fn, config=npu_run_config_init(run_config=run_config))
    hooks = npu_hooks_append([SetIterationsVarHook(ITERATIONS_PER_LOOP)])
    estimator.train(iris.training_data, hooks=hooks, max_steps=steps)
    return float(estimator.evaluate(iris.all_data)["accuracy"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--model-dir", default=None)
    arguments = parser.parse_args()
    directory = arguments.model_dir or tempfile.mkdtemp()
    print("accuracy {:.3f}".format(train(arguments.steps, directory)))
