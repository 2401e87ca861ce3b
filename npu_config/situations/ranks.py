"""Situations of distributed training: what ranks must do alike, and in which order."""

from npu_config.core.diagnostics import Severity
from npu_config.situations import (
    ADAPTER,
    FAQ,
    INTRODUCTION,
    MIGRATION,
    RANKS,
    RUN,
    TEXT,
    situation,
)

_DEVICES = FAQ + "multi-device_model_error.md"
_ALLREDUCE = MIGRATION + "script_migration/distributed_training_scripts/data_parallel_allreduce.md"


@situation(
    "NPU6001",
    Severity.ERROR,
    TEXT,
    RANKS,
    facts=("models-equal-on-devices",),
    source=(INTRODUCTION, _DEVICES),
    help="run the summary operation on every rank, and write the summary file on one rank only",
)
def summary_run_on_one_rank() -> None:
    """Only one rank runs the summaries.

    This rank runs a different graph, compiles once more, and numbers its collective operations
    differently: the job hangs.

    Wrong:

        merged = tf.summary.merge_all()
        with tf.Session() as sess:
            if int(os.environ["RANK_ID"]) == 0:
                sess.run([train_op, merged])
            else:
                sess.run(train_op)

    Right:

        merged = tf.summary.merge_all()
        with tf.Session() as sess:
            _, text = sess.run([train_op, merged])
            if int(os.environ["RANK_ID"]) == 0:
                writer.add_summary(text)
    """


@situation(
    "NPU6002",
    Severity.ERROR,
    TEXT,
    RANKS,
    facts=("models-equal-on-devices",),
    source=(_DEVICES, MIGRATION + "model_training/distributed_training.md"),
    help="create the same operators on every rank, and run them in the same order",
)
def graph_differs_by_rank() -> None:
    """Ranks build or run different graphs.

    Graphs and collective operations then get different numbers on each rank: there is no message,
    and the processes hang until `HCCL_EXEC_TIMEOUT`.

    Wrong:

        rank = int(os.environ["RANK_ID"])
        loss = tf.reduce_mean(tf.square(x))
        if rank == 0:
            loss += tf.nn.l2_loss(w)

    Right:

        rank = int(os.environ["RANK_ID"])
        loss = tf.reduce_mean(tf.square(x))
        loss += tf.nn.l2_loss(w)
    """


@situation(
    "NPU6003",
    Severity.ERROR,
    TEXT,
    RUN,
    facts=("hccl-api-after-init", "get-npu-rank-before-init"),
    source=(
        FAQ + "get_rank_id_error_distributed_training.md",
        MIGRATION + "others/init_collective_communication.md",
    ),
    help="call init_resource() first, or read RANK_ID and RANK_SIZE from the environment",
)
def rank_asked_before_initialisation() -> None:
    """The rank is read before collective communication is initialised.

    The call fails with "get rank id error" on the screen and "hcom_bind_model failed" in the log.

    Wrong:

        from hccl.manage.api import get_rank_id

        rank = get_rank_id()

    Right:

        import os

        rank = int(os.environ["RANK_ID"])
    """


@situation(
    "NPU6004",
    Severity.ERROR,
    TEXT,
    RANKS,
    facts=("broadcast-initial-variables",),
    source=(
        _ALLREDUCE,
        MIGRATION + "common_operation/sessrun_distributed_after_auto_port.md",
    ),
    help="add NPUBroadcastGlobalVariablesHook to the hooks, NPUBroadcastGlobalVariablesCallback "
    "to the callbacks of Keras, or run hccl_ops.broadcast and assign for each variable",
)
def variables_not_broadcast() -> None:
    """Distributed training does not broadcast the initial values of the variables.

    Each rank starts from its own random weights, and the averaged gradients fit none of them.

    Wrong:

        optimizer = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer())
        train_op = optimizer.minimize(loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(train_op)

    Right:

        optimizer = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer())
        train_op = optimizer.minimize(loss)
        hooks = [NPUBroadcastGlobalVariablesHook(0)]
        with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
            sess.run(train_op)
    """


@situation(
    "NPU6005",
    Severity.WARNING,
    TEXT,
    RANKS,
    source=(MIGRATION + "accuracy_debugging/pre-tuning_check.md", _ALLREDUCE),
    help="wrap the optimizer with npu_distributed_optimizer_wrapper and call its minimize or "
    "compute_gradients, or average the gradients yourself with npu_allreduce",
)
def ranks_train_independently() -> None:
    """Several ranks train, but the gradients are never averaged.

    The ranks run separate trainings, and each reaches only the accuracy that the data of one rank
    gives. `npu_distributed_optimizer_wrapper` averages the gradients in `compute_gradients`, so
    the gradients of `tf.gradients` are not averaged.

    Wrong:

        optimizer = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer())
        gradients = tf.gradients(loss, variables)
        train_op = optimizer.apply_gradients(zip(gradients, variables))

    Right:

        optimizer = tf.train.AdamOptimizer()
        gradients = npu_allreduce(tf.gradients(loss, variables))
        train_op = optimizer.apply_gradients(zip(gradients, variables))
    """


@situation(
    "NPU6006",
    Severity.WARNING,
    RANKS,
    facts=("broadcast-trainable-only",),
    source=(ADAPTER + "/python/npu_bridge/estimator/npu/npu_hook.py",),
    help="broadcast the variable with hccl_ops.broadcast and assign it, or use the same seed "
    "for its initializer on all ranks",
)
def untrained_variables_differ_by_rank() -> None:
    """A non-trainable variable has a different initial value on each rank.

    The broadcast hook sends only the trainable variables: a random table with `trainable=False`
    stays different on each rank.

    Wrong: `tf.get_variable("table", [64], trainable=False)`, which the training reads

    Right: the same with `initializer=tf.random_normal_initializer(seed=1)`
    """
