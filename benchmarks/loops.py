"""A loop off the device: one run of ten iterations against ten runs of one iteration.

Both train the same small network from a dataset and fetch the loss, in one process by turns.
Needs TensorFlow; without it there is nothing to measure.
"""

import time
from typing import Any, Callable, Dict, List

from benchmarks._measure import Row

_COUNT = 10
_ROUNDS = 300


def _session(tf: Any, count: int, width: int) -> Callable[[], None]:
    """Trains ten steps: in one run for a loop of ten, in ten runs for one of one."""
    from npu_config.tf1 import patch_sessions, set_iteration_per_loop, unpatch_sessions

    features = tf.data.Dataset.from_tensors(tf.ones([32, width])).repeat()
    inputs = tf.data.make_one_shot_iterator(features).get_next()
    weight = tf.get_variable("weight", [width, width], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(inputs, weight) - 1.0))
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_or_create_global_step())
    init = tf.global_variables_initializer()
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    rewrite = config.graph_options.rewrite_options
    rewrite.memory_optimization = rewrite.NO_MEM_OPT
    options = rewrite.custom_optimizers.add(name="NpuOptimizer").parameter_map
    options["iterations_per_loop"].i = count
    options["enable_data_pre_proc"].b = True
    patch_sessions()
    session = tf.Session(config=config)
    unpatch_sessions()
    session.run(init)
    step = set_iteration_per_loop(session, train_op, count)

    def ten_steps() -> None:
        for _ in range(_COUNT // count):
            session.run([step, loss])

    return ten_steps


def _typical(seconds: List[float]) -> float:
    """The lower quartile, in ms: the least of many is a stroke of luck for either side."""
    return sorted(seconds)[len(seconds) // 4] * 1e3


def _row(tf: Any, width: int) -> Row:
    with tf.Graph().as_default():
        loop = _session(tf, _COUNT, width)
    with tf.Graph().as_default():
        single = _session(tf, 1, width)
    took: Dict[Any, List[float]] = {loop: [], single: []}
    for _ in range(_ROUNDS):
        for train in (loop, single):
            start = time.process_time()
            train()
            took[train].append(time.process_time() - start)
    return Row(
        "a loop of {}, {} x {} weights".format(_COUNT, width, width),
        _typical(took[loop]),
        "{} single steps".format(_COUNT),
        _typical(took[single]),
        "ms",
        1.05,
    )


def rows() -> List[Row]:
    """One row for each size of the network; none without TensorFlow."""
    try:
        import tensorflow
    except ImportError:
        return []
    tf: Any = tensorflow.compat.v1
    tf.logging.set_verbosity(tf.logging.ERROR)
    return [_row(tf, width) for width in (8, 512)]
