"""Runs the scripts of a file as ``npu-config run`` does, in children of one process.

TensorFlow is imported once.  Prints a JSON list: for each script what is found, or how it failed.
"""

import json
import os
import sys
import tempfile

PRELUDE = """import functools, os, numpy as np, tensorflow as tf
from npu_bridge.npu_init import *
tf.logging.set_verbosity(tf.logging.ERROR)
def pipeline(ds):
    it = ds.repeat().batch(2, drop_remainder=True).make_initializable_iterator()
    return it.initializer, it.get_next()
def train(value, start=(), feeds=None, times=1, **options):
    w = tf.get_variable("trained", [], initializer=tf.ones_initializer())
    step = tf.train.GradientDescentOptimizer(1e-6).minimize(tf.reduce_mean(tf.square(value * w)))
    config = npu_config_proto()
    entry = config.graph_options.rewrite_options.custom_optimizers[0]
    for name, option in options.items():
        if isinstance(option, bool):
            entry.parameter_map[name].b = option
        else:
            entry.parameter_map[name].s = option.encode()
    with tf.Session(config=config) as sess:
        sess.run(tf.global_variables_initializer())
        for each in start if isinstance(start, list) else [start]:
            sess.run(each)
        for feed in feeds or [None] * times:
            sess.run(step, feed)  # here: train
"""


def blocks(path, prelude=PRELUDE):
    """The scripts of a file: the situation (or ``right``), the text, the lines that are marked.

    A script that imports TensorFlow itself has no prelude.
    """
    with open(path, encoding="utf-8") as stream:
        for block in stream.read().split("=== ")[1:]:
            id, _, text = block.partition("\n")
            before = "" if text.startswith("import tensorflow") else prelude
            script = before + text
            marked = [n for n, line in enumerate(script.splitlines(), 1) if "# here" in line]
            in_helper = [n for n in marked if n <= before.count("\n")]
            own = [n for n in marked if n > before.count("\n")]
            yield id.strip(), script, in_helper if "# here: train" in text else own


def child(path):
    """What a run of a script finds."""
    from npu_config.runner.run import run_path

    seen = run_path(path, files=False)
    return {
        "exit": seen.exit_code,
        "error": seen.error,
        "found": [[each.situation, each.line] for each in seen.findings if each.situation],
        "not_looked_at": [str(w) for s in seen.sessions for w in s.calls.unseen],
    }


def main(path):
    """Run all scripts of a file."""
    from tests.runner.copies import load

    load()  # for all children

    results = []
    folder = tempfile.mkdtemp()
    for number, (id, script, lines) in enumerate(blocks(path)):
        name = os.path.join(folder, "script{}.py".format(number))
        with open(name, "w", encoding="utf-8") as stream:
            stream.write(script)
        read, write = os.pipe()
        if not os.fork():
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            try:
                text = json.dumps(child(name))
            except BaseException as error:
                text = json.dumps({"exit": -1, "error": repr(error), "found": []})
            os.write(write, text.encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as stream:
            answer = json.loads(stream.read().decode())
        os.wait()
        results.append({"situation": id, "lines": lines, **answer})
    print(json.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1])
