"""The import of npu_init stands in a comment, and other imports bring no name of it."""

import tensorflow as tf
import npu_bridge.npu_init
# from npu_bridge.npu_init import *
from npu_bridge.estimator import npu_ops


class Trainer:
    optimizer = npu_tf_optimizer(tf.train.AdamOptimizer())

    def __init__(self, experimental=ExperimentalConfig()):
        self.config = NPURunConfig(experimental_config=experimental)

    def train(self, sess, op):
        try:
            op = util.set_iteration_per_loop(sess, op, 10)
        except ImportError:
            op = util.set_iteration_per_loop(sess, op, 20)
        hooks = [hook for hook in npu_hooks_append([])]
        hooks = npu_hooks_append(hooks)
        return npu_ops.dropout(op, keep_prob=0.9), hooks


def never_called():
    return hccl_ops.broadcast([], 0)


def again(rank_size):
    if rank_size > 1:
        return lambda: hccl_ops.broadcast([], 0)
    try:
        return get_npu_rank_id()
    except (ValueError, KeyError):
        return hccl_ops.allreduce


if __name__ == "__main__":
    sess, npu_shutdown = init_resource(config=npu_config_proto())
    Trainer().train(sess, again(2))
    shutdown_resource(sess, npu_shutdown)
    close_session(sess)
