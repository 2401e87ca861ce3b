"""Migrating a tree of scripts: processor time, against parsing, and checking, the same files.

The tree is the one that NPU_CONFIG_TREE names, else a synthetic one of 600 training scripts, each
of which uses sessions, datasets and layers.  Ours and the baseline take turns.
"""

import ast
import os
import tempfile
import time
import warnings
from functools import partial
from typing import List

from benchmarks._measure import Row, best
from benchmarks._trees import write_tree

FILES = 600
ROUNDS = 5
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
    from npu_config.migration.project import FileToMigrate, is_candidate, migrate_files

    migrate_files([FileToMigrate(p, root) for p in walk(root) if is_candidate(p)], processes=1)


def parse_and_check(root: str) -> None:
    """The baseline with the check of the same files."""
    from npu_config.judging.batch import judge_scripts
    from npu_config.lint.walk import walk

    walk_and_parse(root)
    list(judge_scripts([path for path in walk(root) if path.endswith(".py")], processes=1))


def rows() -> List[Row]:
    """Two rows: the best of some turns of each."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        root = os.environ.get("NPU_CONFIG_TREE") or folder
        if root == folder:
            write_tree(root, FILES, "import tensorflow as tf\n", lambda number: TRAINING)
        turns = [partial(each, root) for each in (migrate, walk_and_parse, parse_and_check)]
        ours, parsed, checked = best(turns, 1, ROUNDS, time.process_time)
    what = "migrate a tree of scripts"
    return [
        Row(what, ours * 1e3, "walk, read, ast.parse", parsed * 1e3, "ms", 1.5),
        Row(what, ours * 1e3, "the same, and check", checked * 1e3, "ms", 1.5),
    ]
