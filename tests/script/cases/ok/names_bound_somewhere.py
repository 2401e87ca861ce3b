"""Names of npu_init that something in the script binds, in one way or another."""

import npu_bridge.npu_init as npu_ops
import hccl_ops.all
from npu_bridge.npu_init import npu_config_proto as own_name, NPURunConfig
from npu_bridge.estimator.npu import npu_plugin, npu_scope as scope_of_npu

try:
    from npu_bridge.estimator.npu.npu_optimizer import NPUDistributedOptimizer
except ImportError:
    NPUDistributedOptimizer = None


def init_resource(config=None, *shutdown_resource, **close_session):
    global npu_rank
    return config, shutdown_resource, close_session, NPURunConfig, npu_ops, hccl_ops


class DumpConfig:
    """One of the script's own."""


def late_import():
    from npu_bridge.npu_init import npu_hooks_append

    return npu_hooks_append


for npu_tf_optimizer in (NPUDistributedOptimizer,):
    print(npu_tf_optimizer, npu_plugin, init_resource(), DumpConfig, late_import())
with open("file") as (npu_strategy, [npu_allreduce, *npu_rnn]):
    print(npu_strategy, npu_allreduce, npu_rnn)
print([npu_scope for npu_scope in (1, 2)], lambda ProfilingConfig, *, MemoryConfig=1: MemoryConfig)
try:
    print(own_name())
except ValueError as get_npu_rank_id:
    print(get_npu_rank_id)
print(late_import().npu_config_proto, npu_ops.npu_callbacks_append)
