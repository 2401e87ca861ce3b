"""Exporting a tfdbg dump: against tfdbg's own reader with numpy.save.

A session with a few hundred tensors (and a few large ones) is run twice under the dumping
wrapper of tfdbg.  Needs TensorFlow; without it there is nothing to measure.
"""

import os
import tempfile
from typing import Any, List

from benchmarks._measure import Row, best
from npu_config.precision_tool.export import export_tfdbg


def record(root: str) -> None:
    """Two runs of a session under tfdbg."""
    import numpy
    import tensorflow
    from tensorflow.python.debug.wrappers.dumping_wrapper import DumpingDebugWrapperSession

    tf: Any = tensorflow.compat.v1
    tf.logging.set_verbosity(tf.logging.ERROR)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [64, 256])
        y = x
        for layer in range(100):
            y = tf.nn.relu(y * 0.5 + float(layer))
        large = tf.tile(y, [16, 16])
        wrapped = DumpingDebugWrapperSession(session, root)
        for _ in range(2):
            wrapped.run([y, large], {x: numpy.random.rand(64, 256)})


def export_with_tfdbg(root: str, target: str) -> None:
    """The same export with tfdbg's reader and numpy."""
    import numpy
    from tensorflow.python.debug.lib import debug_data

    for number, run in enumerate(sorted(os.listdir(root))):
        folder = os.path.join(target, str(number))
        os.makedirs(folder)
        for datum in debug_data.DebugDumpDir(os.path.join(root, run)).dumped_tensor_data:
            name = "{}.{}.{}.npy".format(
                datum.node_name.replace("/", "_"), datum.output_slot, datum.timestamp
            )
            tensor = datum.get_tensor()
            if isinstance(tensor, numpy.ndarray):
                numpy.save(os.path.join(folder, name), tensor)


def rows() -> List[Row]:
    """One row; none without TensorFlow."""
    try:
        import tensorflow  # noqa: F401
    except ImportError:
        return []
    with tempfile.TemporaryDirectory() as scratch:
        root = os.path.join(scratch, "dump")
        record(root)
        count = sum(
            not name.startswith("_tfdbg_") for _, _, names in os.walk(root) for name in names
        )
        ours, theirs = best(
            [
                lambda: export_tfdbg(root, tempfile.mkdtemp(dir=scratch)),
                lambda: export_with_tfdbg(root, tempfile.mkdtemp(dir=scratch)),
            ],
            1,
            5,
        )
    what = "export {} tensors of 2 runs".format(count)
    return [Row(what, ours * 1e3, "tfdbg + numpy.save", theirs * 1e3, "ms", 1.0)]
