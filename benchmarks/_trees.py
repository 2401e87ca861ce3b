"""Synthetic trees of training scripts, for benchmarks that read many files."""

import os
from typing import Callable

_LAYER = """
def layer_{0}(inputs, filters, is_training=True):
    with tf.variable_scope("layer_{0}"):
        outputs = tf.layers.conv2d(inputs, filters, 3, padding="same", name="conv_{0}")
        outputs = tf.layers.batch_normalization(outputs, training=is_training)
        return tf.nn.relu(outputs + inputs[:, {0} % 3 : -1, ...])
"""


def write_tree(root: str, files: int, head: str, tail: Callable[[int], str]) -> None:
    """Scripts of 5 to 44 layers each, twenty in a folder.

    Args:
        root: the folder, which exists.
        files: how many scripts.
        head: their first lines.
        tail: what follows the layers in the script of a number.
    """
    for number in range(files):
        folder = os.path.join(root, "model_{:03}".format(number // 20))
        os.makedirs(folder, exist_ok=True)
        layers = "".join(_LAYER.format(layer) for layer in range(number % 40 + 5))
        with open(os.path.join(folder, "script_{}.py".format(number)), "w") as stream:
            stream.write(head + layers + tail(number))
