"""The rules of iteration offload that the training side applies: NPU825 to 827, 840 to 848.

No TensorFlow is imported: the pages are part of the reference wherever it is built.
"""

from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare

_UTIL = "tf_adapter/python/npu_bridge/estimator/npu/util.py"
_OFFLOAD = "docs/en/tfadapter_1/more_features/iteration_offload.md"


@declare("NPU840", Severity.ERROR, facts=("iteration-train-op-type",), source=(_UTIL,))
def train_op_type() -> None:
    """Something that is not a tf.Operation is given as the training operation.

    The loop is built around an operation named ``IterationOp`` that groups the training
    operation. ``optimizer.minimize(loss)`` returns an operation; ``tf.assign_add`` and
    ``slim``'s ``create_train_op`` return a tensor, and a tensor has to be turned into its
    operation first.

    Wrong:

        train_op = util.set_iteration_per_loop(sess, create_train_op(loss, opt), 10)

    Right:

        train_op = util.set_iteration_per_loop(sess, create_train_op(loss, opt).op, 10)
    """


@declare("NPU841", Severity.ERROR, facts=("iteration-variables-loaded",), source=(_UTIL,))
def iteration_count() -> None:
    """The number of iterations per loop is not a whole number from 1.

    The loop variable holds the number minus one, so 0 and below, fractions, text and None make
    the device run a number of iterations that nobody asked for.  ``True`` is not a number of
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
    """The loop is loaded with another number than the session declares.

    ``iterations_per_loop`` in the session configuration decides whether the graph is turned
    into a loop, the loop variable decides how often it runs.  The documentation requires both
    to be equal, and nothing at run time compares them.

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

    A finalized graph (``tf.train.Supervisor`` and ``MonitoredSession`` finalize theirs) takes
    no new nodes, and in a graph that is not the default one the loop variables would land
    elsewhere. Build the loop first with ``IterationPerLoop``, load it once the session exists.

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
    """The loop is to be loaded into something that is not an open session of its graph.

    Loop variables live in a session: it has to be a ``tf.Session`` (or a wrapper of one),
    open, and made for the graph that holds the training operation.

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

    ``create_iteration_per_loop_var`` (or the hook's ``begin``) adds the loop variables to the
    graph; only then is there something to load.

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
    """A name that the loop needs belongs to something else in the graph.

    The runtime finds the loop by its names: one operation called exactly ``IterationOp``, and
    the variables ``npu_runconfig/iterations_per_loop``, ``loop_cond``, ``zero`` and ``one``
    (int64 scalars). A second ``IterationOp`` would be called ``IterationOp_1`` and never be
    found.

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
    """The loop is loaded, but the session or the graph lacks what makes it run.

    The session must declare ``iterations_per_loop`` for ``NpuOptimizer`` (absent means 1), and
    the graph must fetch an operation named exactly ``IterationOp``.  Otherwise each
    ``session.run`` trains one step.

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
    """Steps, intervals and iterations per loop do not fit one another.

    One ``session.run`` trains ``iterations_per_loop`` steps, and nothing can happen in
    between: the total has to be a multiple of it (or the last loop must be loaded shorter),
    and so do the intervals at which checkpoints and summaries are written and steps are
    logged.

    Wrong:

        plan_loops(steps=1000, iterations_per_loop=300, checkpoint_every=500)

    Right:

        plan_loops(steps=1000, iterations_per_loop=250, checkpoint_every=500)
    """


@declare("NPU825", Severity.WARNING, source=(_OFFLOAD,), options=("iterations_per_loop",))
def loop_runs_once() -> None:
    """Loops are switched off, and a loop is run.

    With ``set_loops("once")``, ``NPU_CONFIG_LOOPS=once`` or ``npu-config run --loops once`` a
    ``session.run`` of a loop makes one step where the device makes ``iterations_per_loop``.  The
    same number of runs trains less, and hooks are called at other steps.

    Wrong:

        NPU_CONFIG_LOOPS=once python train.py

    Right:

        python train.py
    """


@declare("NPU826", Severity.ERROR, source=(_OFFLOAD,))
def loops_setting() -> None:
    """Loops off the device are set to something other than "device" or "once".

    "device" makes as many steps for a ``session.run`` as the device would, "once" makes one.

    Wrong:

        NPU_CONFIG_LOOPS=on python train.py

    Right:

        NPU_CONFIG_LOOPS=device python train.py
    """


@declare("NPU827", Severity.ERROR, source=(_OFFLOAD,))
def loop_in_partial_run() -> None:
    """A partial run of a session reaches ``IterationOp``.

    A loop runs as a whole: its iterations repeat everything that is fetched, and a partial run
    fetches its parts one after the other.

    Wrong:

        handle = sess.partial_run_setup([loss, train_op], [inputs])

    Right:

        sess.run([loss, train_op])
    """
