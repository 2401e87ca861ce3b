"""The data and the model that the four training scripts share."""

import csv
import pathlib

import numpy as np
import tensorflow.compat.v1 as tf

BATCH_SIZE = 30
DATA = pathlib.Path(__file__).resolve().parent / "data" / "iris.csv"


def load():
    """Measurements, centred and scaled, and species of the 150 flowers."""
    with open(str(DATA), encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    features = np.array([row[:4] for row in rows], dtype=np.float32)
    labels = np.array([row[4] for row in rows], dtype=np.int32)
    return (features - features.mean(axis=0)) / features.std(axis=0), labels


def training_data():
    """Batches for training, all of one size, without end."""
    dataset = tf.data.Dataset.from_tensor_slices(load())
    return dataset.shuffle(150, seed=1).repeat().batch(BATCH_SIZE, drop_remainder=True)


def all_data():
    """All flowers in one batch."""
    return tf.data.Dataset.from_tensor_slices(load()).batch(150, drop_remainder=True)


def softmax_regression(features):
    """The scores of the three species."""
    weights = tf.get_variable("weights", [4, 3], initializer=tf.zeros_initializer())
    biases = tf.get_variable("biases", [3], initializer=tf.zeros_initializer())
    return tf.matmul(features, weights) + biases


def cross_entropy(labels, scores):
    """The mean loss of a batch."""
    return tf.losses.sparse_softmax_cross_entropy(labels, scores)


def train_operation(loss):
    """One step of gradient descent."""
    step = tf.train.get_or_create_global_step()
    return tf.train.GradientDescentOptimizer(0.5).minimize(loss, step)


def session_config(iterations_per_loop):
    """The options of the session, as the vendor's documentation sets them."""
    config = tf.ConfigProto(allow_soft_placement=True)
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["use_off_line"].b = True
    custom_op.parameter_map["enable_data_pre_proc"].b = True
    custom_op.parameter_map["iterations_per_loop"].i = iterations_per_loop
    options = config.graph_options.rewrite_options
    options.memory_optimization = options.NO_MEM_OPT
    return config
