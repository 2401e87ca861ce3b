"""Hooks of the fake vendor's package; importing it registers collections, as the real one does."""

from tensorflow.core.framework import variable_pb2
from tensorflow.python.framework import ops
from tensorflow.python.training import session_run_hook

from npu_bridge import Recorded

for _name in ("iterations_per_loop", "loop_cond", "zero", "one"):
    if ops.get_collection_proto_type("npu_runconfig_" + _name) is None:
        ops.register_proto_function(
            "npu_runconfig_" + _name,
            proto_type=variable_pb2.VariableDef,
            to_proto=ops.get_to_proto_function(ops.GraphKeys.LOCAL_VARIABLES),
            from_proto=ops.get_from_proto_function(ops.GraphKeys.LOCAL_VARIABLES),
        )


class SetIterationsVarHook(Recorded):
    """Records its arguments."""


class NPUInfeedOutfeedSessionHook(Recorded, session_run_hook.SessionRunHook):
    """Records its arguments."""


class NPULogOutfeedSessionHook(Recorded, session_run_hook.SessionRunHook):
    """Records its arguments."""
