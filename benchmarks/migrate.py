"""Migrating a tree of scripts: time, against walking, reading and parsing the same files.

The tree is the one that NPU_CONFIG_TREE names, else a synthetic one of 600 training scripts, each
of which uses sessions, datasets and layers.  Ours and the baseline take turns.
"""

import ast
import os
import tempfile
import time
import warnings
from typing import List

from benchmarks._measure import Row

FILES = 600
ROUNDS = 5
LAYER = """
def layer_{0}(inputs, filters, is_training=True):
    with tf.variable_scope("layer_{0}"):
        outputs = tf.layers.conv2d(inputs, filters, 3, padding="same", name="conv_{0}")
        outputs = tf.layers.batch_normalization(outputs, training=is_training)
        return tf.nn.relu(outputs + inputs[:, {0} % 3 : -1, ...])
"""
TRAINING = """
def input_fn(files, size):
    data = tf.data.TFRecordDataset(files).map(parse, num_parallel_calls=4)
    return data.shuffle(1000).repeat().batch(size).prefetch(1)


def train(files, steps):
    config = tf.ConfigProto(allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    images = input_fn(files, 32).make_one_shot_iterator().get_next()
    outputs = tf.nn.dropout(layer_0(images, 64), rate=0.5)
    step = tf.train.AdamOptimizer(1e-3).minimize(tf.reduce_mean(outputs))
    with tf.Session(config=config) as sess:
        sess.run(tf.global_variables_initializer())
        for number in range(steps):
            _, value = sess.run([step, outputs])
            print(number, value.mean())
"""


def write_tree(root: str) -> None:
    """A tree of training scripts."""
    for number in range(FILES):
        folder = os.path.join(root, "model_{:03}".format(number // 20))
        os.makedirs(folder, exist_ok=True)
        layers = "".join(LAYER.format(n) for n in range(number % 40 + 5))
        with open(os.path.join(folder, "script_{}.py".format(number)), "w") as stream:
            stream.write("import tensorflow as tf\n" + layers + TRAINING)


def walk_and_parse(root: str) -> None:
    """The baseline: the walk of the check, and ast.parse of every script."""
    from npu_config.lint.walk import walk

    for path in walk(root):
        if path.endswith(".py"):
            with open(path, "rb") as stream:
                try:
                    ast.parse(stream.read())
                except (SyntaxError, ValueError):
                    continue


def migrate(root: str) -> None:
    """What ``npu-config migrate`` does, without printing."""
    from npu_config.lint.walk import walk
    from npu_config.migration.project import Target, is_candidate, migrate_files

    migrate_files([Target(path, root) for path in walk(root) if is_candidate(path)])


def rows() -> List[Row]:
    """One row: the best of some turns of each."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        root = os.environ.get("NPU_CONFIG_TREE") or folder
        if root == folder:
            write_tree(folder)
        best = [float("inf"), float("inf")]
        for _ in range(ROUNDS):
            for index, function in enumerate((migrate, walk_and_parse)):
                start = time.perf_counter()
                function(root)
                best[index] = min(best[index], time.perf_counter() - start)
    return [
        Row(
            "migrate a tree of scripts",
            best[0] * 1e3,
            "walk, read, ast.parse",
            best[1] * 1e3,
            "ms",
            1.5,
        )
    ]
