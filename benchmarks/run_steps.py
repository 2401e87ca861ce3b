"""A script by ``npu-config run``: its steps, and the look at the graph of a run.

Small networks, where what is added to a step counts most; a step by ``session.run`` as the run
sees it, against the same step by TensorFlow's own method, by turns.  Graphs of 50,000 operations
are looked at once, when they are run first.  Needs TensorFlow 1.15.
"""

import time
from typing import Any, Callable, Dict, List, Tuple

from benchmarks._measure import Row

_STEPS, _ROUNDS = 20, 150
_OPERATIONS = 50_000


def _network(tf: Any, width: int) -> Tuple[Any, Any, Dict[Any, Any]]:
    """A session, what it fetches in a step, and what it is fed."""
    import numpy

    given = tf.placeholder(tf.float32, [32, width])
    weight = tf.get_variable("weight", [width, width], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(given, weight) - 1.0))
    step = tf.train.AdamOptimizer().minimize(loss, tf.train.get_or_create_global_step())
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    config.graph_options.rewrite_options.custom_optimizers.add(name="NpuOptimizer")
    session = tf.Session(config=config)
    session.run(tf.global_variables_initializer())
    return session, [step, loss], {given: numpy.ones([32, width], "f")}


def _steps(tf: Any, width: int) -> Row:
    from npu_config.runner.watch import SessionWatch

    plain = tf.Session.run
    watch = SessionWatch()
    watch.start()
    try:
        with tf.Graph().as_default():
            session, fetches, feeds = _network(tf, width)
            runs: Tuple[Callable[..., Any], ...] = (tf.Session.run, plain)
            took: List[List[float]] = [[], []]
            for number in range(_ROUNDS):
                turns = list(zip(runs, took))
                for run, times in turns if number % 2 else reversed(turns):
                    start = time.process_time()
                    for _ in range(_STEPS):
                        run(session, fetches, feeds)
                    times.append(time.process_time() - start)
    finally:
        watch.stop()
    alone = sorted(took[1])[_ROUNDS // 4] * 1e3
    ratios = sorted(one / other for one, other in zip(*took))  # two turns share what else runs
    what = "{} steps, {} x {} weights".format(_STEPS, width, width)
    return Row(what, alone * ratios[_ROUNDS // 2], "steps without run", alone, "ms", 1.05)


def _look(tf: Any, kind: str) -> Row:
    """A chain of sums; of uint8, each of them is a finding."""
    from npu_config.runner.calls import Calls
    from npu_config.tf1.purpose import fetched

    definition = tf.GraphDef()
    first = definition.node.add(name="x", op="Placeholder")
    first.attr["dtype"].type = tf.as_dtype(kind).as_datatype_enum
    for number in range(_OPERATIONS):
        node = definition.node.add(name="sum{}".format(number), op="Add")
        node.input.extend(["sum{}".format(number - 1) if number else "x", "x"])
        node.attr["T"].type = first.attr["dtype"].type
    took = []
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="")
        session = tf.Session()
        for _ in range(3):
            start = time.process_time()
            last = fetched(session, "sum{}:0".format(_OPERATIONS - 1))
            Calls({}, __file__.__eq__).of(session, last, (graph.get_tensor_by_name("x:0"),))
            took.append(time.process_time() - start)
            vars(graph).pop("_npu_config_live_graph", None)
            vars(graph).pop("_npu_config_fetches", None)
    what = "the look at {:,} sums of {}".format(_OPERATIONS, kind)
    return Row(what, min(took) * 1e3, "1 s", 1e3, "ms", 1.0)


def rows() -> List[Row]:
    """Rows for steps and for looks; none without TensorFlow."""
    try:
        import tensorflow
    except ImportError:
        return []
    tf: Any = tensorflow.compat.v1
    tf.logging.set_verbosity(tf.logging.ERROR)
    return [_steps(tf, 8), _steps(tf, 256), *(_look(tf, kind) for kind in ("float32", "uint8"))]
