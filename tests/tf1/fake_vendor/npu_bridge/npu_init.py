"""The names of the fake vendor's package; importing it patches the session, as the real one."""

import tensorflow.compat.v1 as tf
from tensorflow.python.client import session

from npu_bridge import Module, Recorded, recorded
from npu_bridge.estimator.npu.npu_config import NPURunConfig  # noqa: F401
from npu_bridge.estimator.npu.npu_estimator import NPUEstimator  # noqa: F401
from npu_bridge.estimator.npu.npu_hook import SetIterationsVarHook  # noqa: F401

_original = session.Session.__init__


def _patched(self, *args, **kwargs):
    raise AssertionError("the fake vendor's patch of the session is not wanted")


session.Session.__init__ = _patched


def _no_op(name=None):
    return tf.no_op(name=name or "NPUInit")


npu_ops = Module(
    "npu_ops",
    NPUInit=_no_op,
    NPUShutdown=lambda name=None: tf.no_op(name="NPUShutdown"),
    initialize_system=_no_op,
    shutdown_system=lambda name=None: tf.no_op(name="NPUShutdown"),
    dropout=lambda x, *args, **kwargs: x,
    LARS="lars",
    npu_onnx_graph_op="graph",
    outfeed_enqueue_op=lambda channel_name, inputs, name=None: tf.no_op(name="Send"),
    outfeed_dequeue_op=lambda channel_name, output_types, output_shapes, name=None: [
        tf.zeros(shape, kind) for kind, shape in zip(output_types, output_shapes)
    ],
)
hccl_ops = Module(
    "hccl_ops",
    allreduce=lambda tensor, *args, **kwargs: tensor,
    broadcast=lambda tensor, root_rank, *args, **kwargs: [tf.identity(t) for t in tensor],
    send="sent",
)
npu_plugin = Module("npu_plugin", set_device_sat_mode=None, npu_resource_init=None)
npu_unary_ops = Module("npu_unary_ops", gelu="gelu", get_next="next")
npu_cpu_ops = Module("npu_cpu_ops", embedding_local_index="table")
npu_rnn = Module("npu_rnn", npu_dynamic_rnn=("outputs", "state"))
util = Module("util", fair_division="shares")


class _Profiler:
    class Profiler(Recorded):
        """Records its arguments."""


profiler = _Profiler


class _Scoped:
    class ScopedGraphManager(Recorded):
        """Records its arguments."""


scoped_graph_manager = _Scoped


class _Strategy:
    class NPUStrategy(Recorded):
        """Records its arguments."""


npu_strategy = _Strategy


class NPUOptimizer(Recorded):
    """Records its arguments."""


class NPUDistributedOptimizer(Recorded):
    """Records its arguments."""


class KerasDistributeOptimizer(Recorded):
    """Records its arguments."""


class NPULossScaleOptimizer(Recorded):
    """Records its arguments."""


class FixedLossScaleManager(Recorded):
    """Records its arguments."""


class ExponentialUpdateLossScaleManager(Recorded):
    """Records its arguments."""


npu_distributed_optimizer_wrapper = recorded("npu_distributed_optimizer_wrapper", "wrapped")
npu_allreduce = recorded("npu_allreduce", "reduced")
get_rank_id = recorded("get_rank_id", 5)
get_rank_size = recorded("get_rank_size", 8)
get_local_rank_id = recorded("get_local_rank_id", 1)
get_local_rank_size = recorded("get_local_rank_size", 4)
create_group = recorded("create_group")
destroy_group = recorded("destroy_group")
