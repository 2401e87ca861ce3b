import tensorflow as tf
from npu_bridge.estimator.npu import npu_config
from npu_bridge.npu_init import *


def told(optimizer, manager):
    optimizer = npu_distributed_optimizer_wrapper(optimizer)
    return NPULossScaleOptimizer(optimizer, manager, is_distributed=True)


def told_by_position(optimizer, manager, ranks):
    optimizer = npu_distributed_optimizer_wrapper(optimizer)
    return NPULossScaleOptimizer(optimizer, manager, ranks > 1)


def of_elsewhere(optimizer, **options):
    optimizer = npu_distributed_optimizer_wrapper(optimizer)
    return NPULossScaleOptimizer(optimizer, **options)


def only_on_several(optimizer, manager, ranks):
    if ranks > 1:
        optimizer = npu_distributed_optimizer_wrapper(optimizer)
    return NPULossScaleOptimizer(optimizer, manager)


def another(optimizer, other, manager):
    other = npu_distributed_optimizer_wrapper(other)
    return NPULossScaleOptimizer(optimizer, manager), other


def ended(sess):
    sess.run(npu_ops.initialize_system())
    shutdown = npu_ops.shutdown_system()
    sess.run(shutdown)
    return npu_ops.shutdown_system()
