"""Trains softmax regression on the Iris flowers under a generated ConfigProto.

    python examples/quickstart/train.py session.pbtxt

Runs on any TensorFlow that has compat.v1; on an Ascend host with the adapter the same
ConfigProto sends the graph to the NPU.
"""

import csv
import os
import sys

import numpy as np
import tensorflow as tf
from google.protobuf import text_format

tf1 = tf.compat.v1
DATA = os.path.join(os.path.dirname(__file__), "..", "training", "data", "iris.csv")


def load():
    """Features scaled to mean 0 and deviation 1, and the class of each flower."""
    with open(DATA, newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    features = np.array([row[:4] for row in rows], np.float32)
    names = sorted({row[4] for row in rows})
    labels = np.array([names.index(row[4]) for row in rows], np.int64)
    return (features - features.mean(0)) / features.std(0), labels


def main(path):
    """Train 300 steps and print the accuracy."""
    with open(path) as stream:
        config = text_format.Parse(stream.read(), tf1.ConfigProto())
    features, labels = load()
    tf1.logging.set_verbosity(tf1.logging.ERROR)
    tf1.disable_eager_execution()
    tf1.disable_resource_variables()
    weights = tf1.get_variable("weights", [4, 3], initializer=tf1.zeros_initializer())
    bias = tf1.get_variable("bias", [3], initializer=tf1.zeros_initializer())
    logits = tf.matmul(tf.constant(features), weights) + bias
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )
    train = tf1.train.GradientDescentOptimizer(0.5).minimize(loss)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
    with tf1.Session(config=config) as session:
        session.run(tf1.global_variables_initializer())
        for step in range(300):
            session.run(train)
            if step % 100 == 99:
                print(
                    "step {}: loss {:.3f}, accuracy {:.1%}".format(
                        step + 1, *session.run([loss, accuracy])
                    )
                )


if __name__ == "__main__":
    main(sys.argv[1])
