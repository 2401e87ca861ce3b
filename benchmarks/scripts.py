"""Checking a tree of training scripts: time and memory, against reading and parsing alone.

The tree is the one that NPU_CONFIG_TREE names, else a synthetic one of 6,000 files of which 300
set options, as in the public ModelZoo.  The baseline reads every file and hands those that
mention the options to ast.parse; each measurement runs in a process of its own, in turns.

NPU_CONFIG_BASELINE names another version of this repository, such as a worktree of 8e8a816: the
processor time of its check is a baseline, too.
"""

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from typing import Callable, Dict, List

from benchmarks._measure import Row
from benchmarks._trees import write_tree

FILES = 6000
RELEVANT = 20
ROUNDS = 3

BLOCK = """
def session_config(args):
    config = tf.ConfigProto(allow_soft_placement=True)
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["use_off_line"].b = True
    custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
    if args.data_dump:
        custom_op.parameter_map["enable_dump"].b = True
        custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes(args.dump_path)
        custom_op.parameter_map["dump_step"].s = tf.compat.as_bytes("0|5")
    if args.profiling:
        custom_op.parameter_map["profiling_mode"].b = True
        custom_op.parameter_map["profiling_options"].s = tf.compat.as_bytes(
            '{"output": "%s", "task_time": "on"}' % args.profiling_path
        )
    config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
    return config


def main(args):
    with tf.Session(config=session_config(args)) as sess:
        train(sess, args)
"""


def read_and_parse(root: str) -> int:
    """The baseline; returns the number of files that mention the options."""
    import ast
    import warnings

    from npu_config.script.vocabulary import may_matter

    warnings.simplefilter("ignore")
    count = 0
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".py"):
                with open(os.path.join(folder, name), "rb") as stream:
                    data = stream.read()
                if may_matter(data):
                    count += 1
                    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                        ast.parse(data)
    return count


def check(root: str, processes: int) -> int:
    """Check every script; returns the number of findings."""
    from npu_config.judging.batch import judge_scripts
    from npu_config.lint.walk import walk

    paths = [path for path in walk(root) if path.endswith(".py")]
    return sum(len(found.found) for found in judge_scripts(paths, processes=processes))


MODES: Dict[str, Callable[[str], int]] = {
    "parse": read_and_parse,
    "one": lambda root: check(root, 1),
    "two": lambda root: check(root, 2),
}


def measure(mode: str, root: str) -> None:
    """Run one mode in this process; prints seconds, and megabytes of this and of its children."""
    start = time.perf_counter()
    MODES[mode](root)
    seconds = time.perf_counter() - start
    memory = [
        resource.getrusage(who).ru_maxrss / 1024.0
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    print(json.dumps([seconds, *memory]))


_CHECK = """
import os, sys, time
try:
    from npu_config.judging.batch import judge_scripts as check
except ImportError:
    from npu_config.script.batch import check_scripts as check
paths = [os.path.join(folder, name) for folder, _, names in os.walk(sys.argv[1]) for name in names]
start = time.process_time()
list(check(sorted(path for path in paths if path.endswith(".py")), processes=1))
print(time.process_time() - start)
"""


def against(root: str, version: str) -> Row:
    """The processor time of the check, against that of another version of the package."""
    import npu_config

    own = os.path.dirname(os.path.dirname(os.path.abspath(npu_config.__file__)))
    best = {own: float("inf"), version: float("inf")}
    for _ in range(ROUNDS):
        for tree in best:
            command = [sys.executable, "-c", _CHECK, root]
            environ = {**os.environ, "PYTHONPATH": tree}
            output = subprocess.run(
                command, check=True, stdout=subprocess.PIPE, cwd=tree, env=environ
            ).stdout
            best[tree] = min(best[tree], float(output))
    return Row("check, CPU", best[own], "the version named", best[version], "s", 1.2)


def rows() -> List[Row]:
    """One and two processes against the baseline."""
    named = os.environ.get("NPU_CONFIG_TREE")
    if named:
        return _rows(named)
    with tempfile.TemporaryDirectory() as root:
        head = "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
        write_tree(root, FILES, head, lambda number: "" if number % RELEVANT else BLOCK)
        return _rows(root)


def _rows(root: str) -> List[Row]:
    best: Dict[str, List[float]] = {}
    for _ in range(ROUNDS):
        for mode in MODES:
            command = [sys.executable, "-m", "benchmarks.scripts", mode, root]
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
            taken = json.loads(output.decode())
            best[mode] = min(best.get(mode, taken), taken)
    parse, one, two = best["parse"], best["one"], best["two"]
    baseline = "read all, parse relevant"
    version = os.environ.get("NPU_CONFIG_BASELINE")
    return [
        *([against(root, os.path.abspath(version))] if version else []),
        Row("check, two processes", two[0], baseline, parse[0], "s", 1.2),
        Row("check, one process", one[0], baseline, parse[0], "s", 2.4),
        Row("memory of one process", one[1], baseline, parse[1], "MB", 2.0),
        Row("memory of each of two", max(two[1:]), baseline, parse[1], "MB", 2.0),
    ]


if __name__ == "__main__":
    measure(sys.argv[1], sys.argv[2])
