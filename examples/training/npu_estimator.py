"""Softmax regression with NPURunConfig and NPUEstimator, which build and load the loop."""
# ruff: noqa: F403, F405

import argparse
import tempfile

import iris

from npu_config.npu_init import *

import tensorflow.compat.v1 as tf  # isort: skip - the star import brings a tf of its own

ITERATIONS_PER_LOOP = 10


def model_fn(features, labels, mode):
    """The model, as for any Estimator."""
    scores = iris.softmax_regression(features)
    loss = iris.cross_entropy(labels, scores)
    if mode == tf.estimator.ModeKeys.EVAL:
        found = tf.argmax(scores, axis=1)
        return NPUEstimatorSpec(
            mode, loss=loss, eval_metric_ops={"accuracy": tf.metrics.accuracy(labels, found)}
        )
    return NPUEstimatorSpec(mode, loss=loss, train_op=iris.train_operation(loss))


def train(steps, model_dir):
    """Train so many steps; returns the share of flowers that are recognised."""
    config = NPURunConfig(
        model_dir=model_dir,
        iterations_per_loop=ITERATIONS_PER_LOOP,
        save_checkpoints_steps=steps,
    )
    estimator = NPUEstimator(model_fn, config=config)
    estimator.train(iris.training_data, max_steps=steps)
    return float(estimator.evaluate(iris.all_data)["accuracy"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--model-dir", default=None)
    arguments = parser.parse_args()
    directory = arguments.model_dir or tempfile.mkdtemp()
    print("accuracy {:.3f}".format(train(arguments.steps, directory)))
