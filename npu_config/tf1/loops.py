"""Iteration offload: the loop variables and the ``IterationOp`` that the runtime looks for.

The device runs the training step ``iterations_per_loop`` times per ``session.run`` when the
graph that is run holds an operation named exactly ``IterationOp``; a local variable
holds the number minus one.  Everything is checked before: a refused call leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import numbers
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Tuple

from npu_config.core.names import ITERATION_OP
from npu_config.tf1 import vendor
from npu_config.tf1._lazy import errors, rules, warn
from npu_config.tf1.config_proto import declared_iterations, is_closed, is_configured, real_session
from npu_config.tf1.loop_runs import SCOPE, collection_of, find_operation, find_variable, runs_of
from npu_config.tf1.tensorflow import internal, require_graph_mode, tf

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic


LOOP_VARIABLES = ("iterations_per_loop", "loop_cond", "zero", "one")

_INT64_MAX = 2**63 - 1


class LoopVariables(NamedTuple):
    """The four int64 scalars that steer the device loop."""

    iterations_per_loop: Any
    loop_cond: Any
    zero: Any
    one: Any


def is_int(value: Any) -> bool:
    """True for a Python int; ``True`` is not one."""
    return isinstance(value, int) and not isinstance(value, bool)


def _fault(rule: Any, message: str, help: str) -> Diagnostic:
    found: Diagnostic = rule.diagnostic(message, option="iterations_per_loop", help=help)
    return found


def count_faults(value: Any, name: str = "iterations_per_loop") -> List[Diagnostic]:
    """What is wrong with a number of iterations; nothing when it is a whole number from 1."""
    if not is_int(value):
        integral = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        message = "{} must be an int from 1, got {!r} of type {}"
        help = "write int({})".format(name) if integral else "write it as a Python int"
        message = message.format(name, value, type(value).__name__)
        return [_fault(rules.iteration_count, message, help)]
    if not 1 <= value <= _INT64_MAX:
        message = "{} must be from 1 to 2**63 - 1, got {}".format(name, value)
        help = "use 1 for no loop, or the number of steps per session.run"
        return [_fault(rules.iteration_count, message, help)]
    return []


def check_count(value: Any, name: str = "iterations_per_loop") -> None:
    """Refuse what is not a number of iterations.

    Raises:
        ArgumentError: it is not an int.
        NpuConfigError: it is below 1 or does not fit an int64.
    """
    _refuse_count(value, count_faults(value, name))


def _refuse_count(value: Any, faults: List[Diagnostic]) -> None:
    if faults:
        raise (errors.NpuConfigError if is_int(value) else errors.ArgumentError)(faults)


def train_op_faults(train_op: Any) -> List[Diagnostic]:
    """What is wrong with a training operation; nothing when it is a ``tf.Operation``."""
    if isinstance(train_op, tf.Operation):
        return []
    if isinstance(train_op, tf.Tensor):
        help = "pass its operation: train_op.op"
    elif isinstance(train_op, (list, tuple)):
        help = "group the operations: tf.group(*train_ops)"
    else:
        help = "pass what optimizer.minimize or optimizer.apply_gradients returns"
    message = "train_op must be a tf.Operation, got {!r}".format(train_op)
    return [_fault(rules.train_op_type, message, help)]


def found_variables(graph: Any) -> Optional[LoopVariables]:
    """The four loop variables of a graph, when all are there."""
    found = [find_variable(graph, name) for name in LOOP_VARIABLES]
    return None if None in found else LoopVariables(*found)


def root_variable_scope(reuse: Any) -> Any:
    """The variable scope in which names are what they say, wherever the call is."""
    return tf.variable_scope(tf.VariableScope(reuse=reuse), auxiliary_name_scope=False)


def graph_faults(graph: Any, train_op: Optional[Any]) -> List[Diagnostic]:
    """What keeps the missing parts of a loop from being added to a graph.

    Args:
        graph: the graph to look at; it is not changed.
        train_op: the operation to loop, or None when only the variables are wanted.
    """
    faults = _variable_name_faults(graph)
    iteration_op = find_operation(graph, ITERATION_OP)
    if train_op is not None and iteration_op is not None:
        runs_it = iteration_op is train_op or train_op in iteration_op.control_inputs
        if not runs_it:
            faults.append(_iteration_op_taken(train_op))
    complete = found_variables(graph) is not None
    if complete and (train_op is None or iteration_op is not None):
        return faults
    if graph.finalized:
        faults.append(
            _fault(
                rules.graph_cannot_be_changed,
                "the graph is finalized: the loop variables and {} cannot be added".format(
                    ITERATION_OP
                ),
                "call IterationPerLoop().create_iteration_per_loop_var(train_op) before the "
                "graph is frozen, and load_iteration_per_loop_var(sess, n) afterwards",
            )
        )
    if graph is not tf.get_default_graph():
        faults.append(
            _fault(
                rules.graph_cannot_be_changed,
                "train_op belongs to another graph than the default one",
                "call inside `with train_op.graph.as_default():`",
            )
        )
    return faults


def _variable_name_faults(graph: Any) -> List[Diagnostic]:
    faults = []
    for name in LOOP_VARIABLES:
        full = "{}/{}".format(SCOPE, name)
        if find_variable(graph, name) is None and find_operation(graph, full) is not None:
            try:
                with graph.as_default(), root_variable_scope(reuse=True):
                    tf.get_variable(full, shape=[], dtype=tf.int64)
            except ValueError:
                faults.append(
                    _fault(
                        rules.loop_name_taken,
                        '"{}" already exists in the graph, but is not an int64 scalar variable '
                        "of tf.get_variable".format(full),
                        'do not use the scope "{}" for other variables'.format(SCOPE),
                    )
                )
    return faults


def _iteration_op_taken(train_op: Any) -> Diagnostic:
    return _fault(
        rules.loop_name_taken,
        '"{0}" already exists in the graph and does not run "{1}"; a second one would be called '
        '"{0}_1", which the runtime does not recognise'.format(ITERATION_OP, train_op.name),
        "group the training operations, tf.group(first, second), and build one loop",
    )


def session_faults(session: Any, graph: Any, iterations_per_loop: int) -> List[Diagnostic]:
    """What keeps a session from being loaded with a loop of a graph.

    Args:
        session: what was given as session.
        graph: the graph of the loop.
        iterations_per_loop: what is to be loaded.
    """
    real = real_session(session)
    unusable = rules.session_cannot_be_used.diagnostic
    if real is None:
        message = "sess must be a tf.Session, got {!r}".format(session)
        return [unusable(message, help="pass the session that trains")]
    faults = []
    if is_closed(real):
        help = "load the loop before the session is closed"
        faults.append(unusable("the session is closed", help=help))
    if real.graph is not graph:
        help = "create it with tf.Session(graph=train_op.graph)"
        faults.append(unusable("the session belongs to another graph than the loop", help=help))
    declared = declared_iterations(real)
    if declared not in (None, iterations_per_loop):
        faults.append(
            _fault(
                rules.iterations_per_loop_mismatch,
                "the loop is to run {} iterations, but the session was created with "
                "iterations_per_loop {}; the documentation requires both to be equal".format(
                    iterations_per_loop, declared
                ),
                "use {} in both places".format(declared),
            )
        )
    return faults


def load(session: Any, variables: LoopVariables, iterations_per_loop: int) -> None:
    """Load a loop into a session: n - 1, 0, 0, 1."""
    values = (iterations_per_loop - 1, 0, 0, 1)
    runs_of(real_session(session)).load(zip(variables, values))


def load_created(
    session: Any, variables: Optional[LoopVariables], iterations_per_loop: int, first: str
) -> LoopVariables:
    """Load a loop into a session that was checked.

    Args:
        session: what was given as session.
        variables: those of the loop; None where it was not created.
        iterations_per_loop: what is to be loaded.
        first: what creates it.

    Raises:
        StateError: nothing was created yet, or the session cannot be used.
    """
    if variables is None:
        raise errors.StateError([not_created(first)])
    graph = variables.iterations_per_loop.graph
    faults = session_faults(session, graph, iterations_per_loop)
    if faults:
        raise errors.StateError(faults)
    load(session, variables, iterations_per_loop)
    return variables


def load_count(session: Any, variables: LoopVariables, iterations_per_loop: int) -> None:
    """Change the number of iterations of a loop that is loaded."""
    values = (variables.iterations_per_loop, iterations_per_loop - 1)
    runs_of(real_session(session)).load([values])


def warn_if_not_declared(session: Any, iterations_per_loop: int) -> None:
    """Say so when a session for the NPU does not declare ``iterations_per_loop``."""
    real = real_session(session)
    if iterations_per_loop > 1 and is_configured(real) and declared_iterations(real) is None:
        warn_no_effect(
            "the loop is loaded with {} iterations, but the session's NpuOptimizer does not set "
            "iterations_per_loop (absent means 1): each session.run trains one step".format(
                iterations_per_loop
            ),
            'set parameter_map["iterations_per_loop"].i = {} before the session is created'.format(
                iterations_per_loop
            ),
        )


def warn_no_effect(message: str, help: str) -> None:
    """Warn that a loop has no effect."""
    warn(_fault(rules.loop_has_no_effect, message, help))


def register_collections() -> None:
    """Let meta graphs carry the loop variables as variables; safe to repeat.

    The vendor's hook module registers the same names and fails when they are taken, so where
    it can be imported it is left to do so.
    """
    if vendor.load_adapter():
        vendor.require("npu_hook", "SetIterationsVarHook")
        return
    ops = internal("framework.ops")
    local = tf.GraphKeys.LOCAL_VARIABLES
    for name in LOOP_VARIABLES:
        collection = collection_of(name)
        if ops.get_collection_proto_type(collection) is None:
            ops.register_proto_function(
                collection,
                proto_type=ops.get_collection_proto_type(local),
                to_proto=ops.get_to_proto_function(local),
                from_proto=ops.get_from_proto_function(local),
            )


def create_or_get_var(var_name: str) -> Any:
    """The loop variable ``npu_runconfig/<var_name>`` of the default graph, created when missing.

    An int64 scalar, zero, a resource, not trainable, in the collections
    ``npu_runconfig_<name>`` and ``LOCAL_VARIABLES`` only (so that it is not saved), beside the
    global step where there is one.  Enclosing name and variable scopes do not change its name.

    Raises:
        StateError: the graph holds several of that name, or TensorFlow executes eagerly.
    """
    require_graph_mode("create_or_get_var")
    graph = tf.get_default_graph()
    found = find_variable(graph, var_name)
    if found is not None:
        return found
    register_collections()
    step = tf.train.get_global_step(graph)
    with contextlib.ExitStack() as stack:
        stack.enter_context(graph.name_scope(None))
        stack.enter_context(root_variable_scope(reuse=tf.AUTO_REUSE))
        if step is not None:
            stack.enter_context(graph.colocate_with(step.op))
        return tf.get_variable(
            "{}/{}".format(SCOPE, var_name),
            shape=[],
            dtype=tf.int64,
            initializer=tf.zeros_initializer(),
            trainable=False,
            collections=[collection_of(var_name), tf.GraphKeys.LOCAL_VARIABLES],
            use_resource=True,
        )


def create_variables() -> LoopVariables:
    """The four loop variables of the default graph, created where they are missing.

    Raises:
        StateError: the graph is finalized, or a name is taken; nothing is added then.
    """
    require_graph_mode("SetIterationsVarHook")
    faults = graph_faults(tf.get_default_graph(), None)
    if faults:
        raise errors.StateError(faults)
    return LoopVariables(*[create_or_get_var(name) for name in LOOP_VARIABLES])


def _create_loop(train_op: Any) -> Tuple[Any, LoopVariables]:
    """The ``IterationOp`` of an operation and the loop variables; the graph was checked."""
    variables = found_variables(train_op.graph)
    if variables is None:
        variables = LoopVariables(*[create_or_get_var(name) for name in LOOP_VARIABLES])
    existing = find_operation(train_op.graph, ITERATION_OP)
    if existing is not None:
        return existing, variables
    with train_op.graph.name_scope(None):
        return tf.group(train_op, name=ITERATION_OP), variables


def set_iteration_per_loop(sess: Any, train_op: Any, iterations_per_loop: int = 1) -> Any:
    """Make one ``session.run`` of the result train ``iterations_per_loop`` steps on the device.

    Can be called again, with the same or another number.

    Args:
        sess: the open session that trains.
        train_op: the training operation.
        iterations_per_loop: steps per ``session.run``, the number that the session was
            configured with.  With 1 the graph is left as it is, and a loop that was loaded
            before is set back to one iteration.

    Returns:
        The operation to run: ``IterationOp``, or ``train_op`` itself for 1.

    Raises:
        ArgumentError: the number is not an int.
        NpuConfigError: ``train_op`` is not an operation, or the number is below 1.
        StateError: the session is closed, of another graph, or declares another number; the
            graph is finalized, or not the default one.  Nothing is added to the graph then.
    """
    require_graph_mode("set_iteration_per_loop")
    faults = train_op_faults(train_op) + count_faults(iterations_per_loop)
    _refuse_count(iterations_per_loop, faults)
    graph = train_op.graph
    variables = found_variables(graph)
    declared = declared_iterations(real_session(sess))
    if iterations_per_loop == 1 and variables is None and declared in (None, 1):
        return train_op
    faults = session_faults(sess, graph, iterations_per_loop)
    if iterations_per_loop > 1:
        faults += graph_faults(graph, train_op)
    if faults:
        raise errors.StateError(faults)
    operation = train_op
    if iterations_per_loop > 1:
        operation, variables = _create_loop(train_op)
    if variables is not None:
        load(sess, variables, iterations_per_loop)
    warn_if_not_declared(sess, iterations_per_loop)
    return operation


class IterationPerLoop:
    """The same in two steps, for graphs that are frozen before the session exists.

    For ``tf.train.Supervisor`` and others that finalize the graph: create the loop first,
    load it once there is a session.
    """

    def __init__(self) -> None:
        self._variables: Optional[LoopVariables] = None

    def create_iteration_per_loop_var(self, train_op: Any) -> Any:
        """Add the loop variables and the ``IterationOp`` of ``train_op`` to its graph.

        Called again for the same operation it returns the same ``IterationOp``.

        Raises:
            NpuConfigError: ``train_op`` is not an operation.
            StateError: the graph cannot take the loop; nothing is added then.
        """
        require_graph_mode("create_iteration_per_loop_var")
        faults = train_op_faults(train_op)
        if faults:
            raise errors.NpuConfigError(faults)
        faults = graph_faults(train_op.graph, train_op)
        if faults:
            raise errors.StateError(faults)
        operation, self._variables = _create_loop(train_op)
        return operation

    def load_iteration_per_loop_var(self, sess: Any, iterations_per_loop: int = 1) -> None:
        """Load the loop into a session; the graph is not changed.

        Args:
            sess: the open session that trains.
            iterations_per_loop: steps per ``session.run``.

        Raises:
            ArgumentError: the number is not an int.
            NpuConfigError: the number is below 1.
            StateError: nothing was created yet, or the session cannot be used.
        """
        check_count(iterations_per_loop)
        first = "create_iteration_per_loop_var(train_op)"
        load_created(sess, self._variables, iterations_per_loop, first)
        warn_if_not_declared(sess, iterations_per_loop)


def not_created(first: str) -> Diagnostic:
    """The finding that a loop is loaded before ``first`` was called."""
    return rules.loop_not_created.diagnostic(
        "the loop is loaded before it was created", help="call {} first".format(first)
    )
