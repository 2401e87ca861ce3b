"""The rules that the training side applies itself: NPU425, 825 to 829, 840 to 860, 866, 867.

They concern calls, graphs and sessions rather than options, so the functions of this
package report them where they see them.  This module imports no TensorFlow: the pages are
part of the reference wherever it is built.
"""

from functools import partial

from npu_config.core import diagnostics
from npu_config.core.diagnostics import Severity

declare = partial(diagnostics.declare, shows=("run",))

_UTIL = "tf_adapter/python/npu_bridge/estimator/npu/util.py"
_OFFLOAD = "docs/en/tfadapter_1/more_features/iteration_offload.md"


@declare("NPU849", Severity.ERROR, source=("tf_adapter/python/npu_bridge/npu_ops.py",))
def graph_mode_needed() -> None:
    """A graph-mode function is called while TensorFlow executes eagerly.

    The adapter for TensorFlow 1.15 needs graphs and sessions.  In TensorFlow 2 these are in
    ``tf.compat.v1``; first switch off eager execution.

    Wrong:

        import tensorflow as tf                     # 2.x
        train_op = util.set_iteration_per_loop(sess, train_op, 10)

    Right:

        import tensorflow.compat.v1 as tf
        tf.disable_eager_execution()
    """


@declare("NPU850", Severity.ERROR, source=("docs/en/tfadapter_1/install.md",))
def vendor_library_missing() -> None:
    """A function was called that needs the vendor's library on an NPU host.

    Communication between hosts, device operators and profiling on the device need the vendor's
    packages: npu_config uses ``npu_bridge`` and ``hccl`` if they can be imported, and raises this
    error if not.  With one rank, broadcast and averaging do nothing and work on every machine;
    ``npu-config run --ranks`` connects several ranks on one machine.

    Wrong:

        RANK_SIZE=8 python train.py      # on a machine without the Ascend adapter

    Right:

        python train.py                            # one rank: runs anywhere
        npu-config run --ranks 8 train.py          # eight ranks on this machine
    """


@declare(
    "NPU851",
    Severity.ERROR,
    facts=("output-tensor-hook-steps", "tell-me-hook-args"),
    source=("tf_adapter/python/npu_bridge/estimator/npu/npu_hook.py",),
)
def hook_argument() -> None:
    """A hook is created with an invalid argument.

    ``NPUOutputTensorHook`` needs a function to call and a number of steps of at least 1 (its own
    default 0 causes a division by zero at the first step).  ``TellMeStepOrLossHook`` needs a step
    or a loss, and a number as its target.

    Wrong:

        NPUOutputTensorHook({"loss": loss})

    Right:

        NPUOutputTensorHook({"loss": loss}, output_fn=print, output_every_n_steps=100)
    """


@declare(
    "NPU852",
    Severity.ERROR,
    facts=("resource-info-exclusive",),
    source=(_UTIL, "docs/en/tfa_env/RANK_ID.md"),
)
def rank_variables_unusable() -> None:
    """The environment variables for the rank of this process are invalid.

    Set ``RANK_SIZE`` (with a rank table) or ``CM_WORKER_SIZE`` (without a rank table), not both.
    ``RANK_ID`` must be an integer of at least 0.

    Wrong:

        RANK_SIZE=8 CM_WORKER_SIZE=8 RANK_ID=first python train.py

    Right:

        RANK_SIZE=8 RANK_ID=0 RANK_TABLE_FILE=rank_table.json python train.py
    """


@declare(
    "NPU853",
    Severity.ERROR,
    facts=("run-config-nested-types",),
    source=("tf_adapter/python/npu_bridge/estimator/npu/npu_config.py",),
)
def run_config_argument() -> None:
    """An argument of NPURunConfig, or of a configuration object in it, is invalid.

    ``recompute`` and ``graph_slice`` must be "auto" or "manual", and each configuration object
    must have the right class (for the arguments of NPURunConfig, see NPU816).  Faults that
    TensorFlow's RunConfig would reject are reported together with all other faults.  Only
    ``npu-config run`` finds this.

    Wrong:

        GraphMemoryOptimizeConfig(recompute="always")

    Right:

        GraphMemoryOptimizeConfig(recompute="auto")
    """


@declare(
    "NPU854",
    Severity.WARNING,
    facts=("run-config-second-custom-op", "run-config-remapping"),
    source=("tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py",),
)
def run_config_overrides_session_config() -> None:
    """NPURunConfig replaces a value of its session_config.

    NPURunConfig always writes most of its options, even those with their default value, so an
    option in an ``NpuOptimizer`` entry of ``session_config`` is overridden.  The vendor's
    NPUEstimator adds a second entry, which takes precedence; npu_config writes only one entry,
    with the same result and a warning.

    Wrong:

        custom_op.parameter_map["enable_dump"].b = True
        NPURunConfig(session_config=session_config)

    Right:

        NPURunConfig(session_config=session_config, dump_config=DumpConfig(enable_dump=True, ...))
    """


@declare(
    "NPU855",
    Severity.ERROR,
    facts=("run-config-type", "estimator-model-dir", "keras-model-source", "estimator-job-id"),
    source=("tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py",),
)
def estimator_argument() -> None:
    """NPUEstimator, NPUEstimatorSpec or model_to_npu_estimator has an invalid argument.

    The configuration must be an NPURunConfig, the model directory must be the same in both places,
    and ``model_to_npu_estimator`` needs either a model or a path.  Without a model directory the
    job runs, but checkpoints are written to a new directory in the working directory (a warning).

    Wrong:

        NPUEstimator(model_fn, model_dir="a", config=NPURunConfig(model_dir="b"))

    Right:

        NPUEstimator(model_fn, config=NPURunConfig(model_dir="a"))
    """


@declare(
    "NPU856",
    Severity.ERROR,
    facts=("estimator-spec-type", "host-call-shape"),
    source=("tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py",),
)
def estimator_spec() -> None:
    """A model function returns something that NPUEstimator cannot run.

    In training and evaluation the model function must return a ``tf.estimator.EstimatorSpec`` or
    an ``NPUEstimatorSpec``.  ``host_call`` must be a pair: a function, and a list, tuple or dict
    of the tensors that it takes.

    Wrong:

        NPUEstimatorSpec(mode, loss=loss, train_op=train_op, host_call=write_summaries)

    Right:

        NPUEstimatorSpec(mode, loss=loss, train_op=train_op, host_call=(write_summaries, [loss]))
    """


@declare(
    "NPU857",
    Severity.ERROR,
    facts=("loss-scale-minimum", "loss-scale-manager-required"),
    source=("tf_adapter/python/npu_bridge/estimator/npu/npu_loss_scale_manager.py",),
)
def loss_scale_argument() -> None:
    """A loss scale, or a parameter of its updates, is out of range.

    A fixed scale must be at least 1.  ``incr_every_n_steps`` and ``decr_every_n_nan_or_inf`` must
    be integers, and the ratios must be numbers other than zero.
    ``NPUOptimizer(is_loss_scale=True)`` needs a loss-scale manager.

    Wrong:

        FixedLossScaleManager(loss_scale=0.5)

    Right:

        FixedLossScaleManager(loss_scale=2**15)
    """


@declare(
    "NPU858",
    Severity.ERROR,
    facts=("run-config-limit-core-scope",),
    source=("tf_adapter/python/npu_bridge/estimator/npu/npu_scope.py", _UTIL),
)
def graph_annotation_argument() -> None:
    """A scope or an attribute of a graph node has an invalid value.

    The scopes of ``npu_scope`` and functions such as ``keep_tensors_dtypes`` write attributes that
    the device's graph compiler reads; without this check, a wrong attribute is found only there,
    or never.

    Wrong:

        with npu_scope.npu_variable_scope("host"): ...

    Right:

        with npu_scope.npu_variable_scope(NpuExecutePlacement.HOST): ...
    """


@declare("NPU859", Severity.ERROR, source=(_UTIL,))
def util_argument() -> None:
    """A check function of the module ``npu_bridge.estimator.npu.util`` rejects its argument.

    Scripts call ``check_positive_integer``, ``check_path``, ``check_aoe_mode`` and similar
    functions to check their own flags; the message names the flag.

    Wrong:

        util.check_aoe_mode("3")

    Right:

        util.check_aoe_mode("2")
    """


@declare("NPU860", Severity.ERROR, facts=("get-npu-rank-before-init",), source=(_UTIL,))
def value_store_missing() -> None:
    """``util.set_value`` or ``util.get_value`` is called before ``global_dict_init``.

    ``init_resource`` creates the dictionary of values.  A script that does not call
    ``init_resource`` must first call ``global_dict_init``.

    Wrong:

        util.set_value("learning_rate", 0.1)

    Right:

        util.global_dict_init()
        util.set_value("learning_rate", 0.1)
    """


@declare(
    "NPU828",
    Severity.ERROR,
    source=("tf_adapter/python/npu_bridge/estimator/npu/npu_dynamic_rnn.py",),
)
def recurrent_layer_argument() -> None:
    """DynamicRNN, DynamicGRUV2 or DynamicAUGRU is created with an unsupported argument.

    The layers support only the cell type LSTM (DynamicRNN), tanh, and inputs of shape [time,
    batch, size], without projection, clipping or peephole; for anything else the compiler of the
    device fails, much later.

    Wrong:

        DynamicRNN(hidden_size=64, dtype=tf.float32, time_major=False)

    Right:

        DynamicRNN(hidden_size=64, dtype=tf.float32)
    """


@declare(
    "NPU867",
    Severity.ERROR,
    source=("tf_adapter/ops", "tf_adapter/python/npu_bridge/estimator/npu_ops.py"),
)
def operator_argument() -> None:
    """An operator of the adapter is called with an invalid tensor or number.

    The operators of the device support only some types (mostly float16 and float32, the same for
    all operands).  The library rejects other types when the graph is built.

    Wrong:

        npu_ops.dropout(tf.ones([8], tf.float64), 0.9)

    Right:

        npu_ops.dropout(tf.ones([8], tf.float32), 0.9)
    """


@declare(
    "NPU866", Severity.ERROR, source=("npu_config",), situation="graph-differs-by-rank", shows=()
)
def collective_failed() -> None:
    """The ranks of a job on one machine cannot complete a collective operation.

    Calls of a collective operation on different ranks belong together if they have the same name
    and the same count of runs.  All ranks of the group must run the operation, with the same type,
    shape and reduction, and ranks must not wait for each other in a circle.  On the device such a
    job hangs until ``HCCL_EXEC_TIMEOUT``.

    Wrong:

        if get_rank_id() == 0:
            session.run(hccl_ops.allreduce(loss, "sum"))     # the other ranks never come

    Right:

        total = session.run(hccl_ops.allreduce(loss, "sum"))
        if get_rank_id() == 0:
            print(total)
    """


@declare("NPU829", Severity.ERROR, source=("hccl/manage/api.py", "hccl/split/api.py"))
def collective_argument() -> None:
    """A function of ``hccl`` is called with an invalid argument.

    The name of a group has 1 to 127 characters.  ``create_group`` needs the number of ranks and a
    list with this number of ranks.  Gradients are split at ascending indexes, or into percentages
    with a sum of exactly 100.

    Wrong:

        set_split_strategy_by_size([60, 20])

    Right:

        set_split_strategy_by_size([60, 20, 20])
    """


@declare("NPU840", Severity.ERROR, facts=("iteration-train-op-type",), source=(_UTIL,))
def train_op_type() -> None:
    """The training operation is not a tf.Operation.

    The device loop runs an operation named ``IterationOp`` that groups the training operation.
    ``optimizer.minimize(loss)`` returns an operation; ``tf.assign_add`` and ``create_train_op`` of
    ``slim`` return a tensor: pass the operation of the tensor (``.op``).

    Wrong:

        train_op = util.set_iteration_per_loop(sess, create_train_op(loss, opt), 10)

    Right:

        train_op = util.set_iteration_per_loop(sess, create_train_op(loss, opt).op, 10)
    """


@declare("NPU841", Severity.ERROR, facts=("iteration-variables-loaded",), source=(_UTIL,))
def iteration_count() -> None:
    """The number of iterations per loop is not an integer of 1 or more.

    The loop variable holds the number of iterations minus one.  With 0 or less, fractions, text or
    None, the device would run a wrong number of iterations.  ``True`` is not a number of
    iterations.

    Wrong:

        SetIterationsVarHook(0)

    Right:

        SetIterationsVarHook(10)
    """


@declare(
    "NPU842",
    Severity.ERROR,
    facts=("iterations-value-equal",),
    source=(_OFFLOAD,),
    options=("iterations_per_loop",),
)
def iterations_per_loop_mismatch() -> None:
    """The loaded number of iterations differs from the one in the session configuration.

    ``iterations_per_loop`` in the session configuration decides whether the graph becomes a device
    loop; the loop variable sets the number of iterations.  The documentation requires both to be
    equal, but nothing compares them at run time.

    Wrong:

        custom_op.parameter_map["iterations_per_loop"].i = 10
        train_op = util.set_iteration_per_loop(sess, train_op, 5)

    Right:

        custom_op.parameter_map["iterations_per_loop"].i = 10
        train_op = util.set_iteration_per_loop(sess, train_op, 10)
    """


@declare("NPU843", Severity.ERROR, facts=("iteration-graph-mutable",), source=(_OFFLOAD,))
def graph_cannot_be_changed() -> None:
    """The iteration loop is built in a graph that is finalized or is not the default graph.

    No nodes can be added to a finalized graph (``tf.train.Supervisor`` and ``MonitoredSession``
    finalize their graphs), and if the graph is not the default graph, the loop variables would be
    created in another graph.  First create the loop with ``IterationPerLoop``, and load it when
    the session exists.

    Wrong:

        with supervisor.managed_session() as sess:
            train_op = util.set_iteration_per_loop(sess, train_op, 10)

    Right:

        loop = util.IterationPerLoop()
        train_op = loop.create_iteration_per_loop_var(train_op)
        supervisor = tf.train.Supervisor(logdir=..., init_op=init)
        with supervisor.managed_session() as sess:
            loop.load_iteration_per_loop_var(sess, 10)
    """


@declare("NPU844", Severity.ERROR, source=(_UTIL,))
def session_cannot_be_used() -> None:
    """The ``sess`` argument is not an open session of the graph that contains the device loop.

    ``set_iteration_per_loop`` and ``load_iteration_per_loop_var`` write the loop variables in
    this session.  It must be a ``tf.Session`` (or a wrapper of one) that is open and was created
    for the graph of the training operation.

    Wrong:

        with tf.Session() as sess:
            sess.run(init)
        train_op = util.set_iteration_per_loop(sess, train_op, 10)

    Right:

        with tf.Session() as sess:
            sess.run(init)
            train_op = util.set_iteration_per_loop(sess, train_op, 10)
    """


@declare("NPU845", Severity.ERROR, facts=("iteration-variables-loaded",), source=(_UTIL,))
def loop_not_created() -> None:
    """The loop is loaded before it was created.

    ``create_iteration_per_loop_var`` (or ``begin`` of the hook) adds the loop variables to the
    graph; they can be loaded only after that.

    Wrong:

        loop = util.IterationPerLoop()
        loop.load_iteration_per_loop_var(sess, 10)

    Right:

        loop = util.IterationPerLoop()
        train_op = loop.create_iteration_per_loop_var(train_op)
        loop.load_iteration_per_loop_var(sess, 10)
    """


@declare(
    "NPU846",
    Severity.ERROR,
    facts=("iteration-op-name", "iteration-op-once"),
    source=(_UTIL, "tf_adapter/optimizers/om_partition_subgraphs_pass.cc"),
)
def loop_name_taken() -> None:
    """Another operation of the graph already has a name that the device loop needs.

    The runtime finds the device loop by these names: one operation with the name ``IterationOp``,
    and the int64 scalar variables ``npu_runconfig/iterations_per_loop``, ``loop_cond``, ``zero``
    and ``one``.  A second ``IterationOp`` would get the name ``IterationOp_1``, which the runtime
    does not find.

    Wrong:

        step_d = util.set_iteration_per_loop(sess, train_d, 10)
        step_g = util.set_iteration_per_loop(sess, train_g, 10)

    Right:

        step = util.set_iteration_per_loop(sess, tf.group(train_d, train_g), 10)
    """


@declare(
    "NPU847",
    Severity.WARNING,
    facts=("iteration-op-name", "iteration-estimator-hook"),
    source=(_OFFLOAD,),
    options=("iterations_per_loop",),
)
def loop_has_no_effect() -> None:
    """The device loop is loaded, but the session or the graph is not set up to run it.

    The configuration of the session must set ``iterations_per_loop`` for ``NpuOptimizer`` (not set
    means 1), and the session must run an operation with exactly the name ``IterationOp``.
    Otherwise each ``session.run`` trains one step.

    Wrong:

        tf.train.MonitoredTrainingSession(hooks=[SetIterationsVarHook(10)])  # plain train_op

    Right:

        train_op = tf.group(train_op, name="IterationOp")
        tf.train.MonitoredTrainingSession(hooks=[SetIterationsVarHook(10)])
    """


@declare(
    "NPU848",
    Severity.ERROR,
    facts=("iterations-divide-total", "iteration-session-run-count"),
    source=(_OFFLOAD,),
    options=("iterations_per_loop",),
)
def loop_plan_uneven() -> None:
    """Steps or intervals are not multiples of the iterations per loop.

    One ``session.run`` trains ``iterations_per_loop`` steps without interruption.  So the total
    number of steps must be a multiple of ``iterations_per_loop`` (or the last loop must be loaded
    with a smaller number), and so must the intervals of checkpoints, summaries and logged steps.

    Wrong:

        plan_loops(steps=1000, iterations_per_loop=300, checkpoint_every=500)

    Right:

        plan_loops(steps=1000, iterations_per_loop=250, checkpoint_every=500)
    """


@declare("NPU825", Severity.WARNING, source=(_OFFLOAD,), options=("iterations_per_loop",))
def loop_runs_once() -> None:
    """A loop runs only one step, because device loops are switched off.

    With ``set_loops("once")``, ``NPU_CONFIG_LOOPS=once`` or ``npu-config run --loops once``, a
    ``session.run`` of a device loop runs one step; on the device it would run
    ``iterations_per_loop`` steps.  The same number of runs trains fewer steps, and hooks are
    called at other steps.

    Wrong:

        NPU_CONFIG_LOOPS=once python train.py

    Right:

        python train.py
    """


@declare("NPU826", Severity.ERROR, source=(_OFFLOAD,))
def loops_setting() -> None:
    """The value of NPU_CONFIG_LOOPS or of `set_loops` is neither "device" nor "once".

    With "device", a ``session.run`` runs as many steps as on the device; with "once", it runs one
    step.

    Wrong:

        NPU_CONFIG_LOOPS=on python train.py

    Right:

        NPU_CONFIG_LOOPS=device python train.py
    """


@declare("NPU827", Severity.ERROR, source=(_OFFLOAD,))
def loop_in_partial_run() -> None:
    """A partial run of a session executes ``IterationOp``.

    A device loop can only run as a whole: each iteration repeats all fetches, but a partial run
    fetches its parts one after the other.

    Wrong:

        handle = sess.partial_run_setup([loss, train_op], [inputs])

    Right:

        sess.run([loss, train_op])
    """


@diagnostics.declare("NPU425", Severity.ERROR, source=("npu_config",))
def vendor_package_present() -> None:
    """The vendor's npu_bridge is installed; npu_config replaces its modules only with `--force`.

    On an NPU host, run the script with `python`, so that it uses the vendor's modules.  `--force`
    (`force=True`) still uses the replacement modules of npu_config.

    Wrong, on an NPU host: `npu-config run train.py`

    Right: `python train.py`
    """
