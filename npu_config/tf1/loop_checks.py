"""What is checked before a loop is built or loaded; a refused call leaves nothing behind."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional

from npu_config.core.names import ITERATION_OP
from npu_config.tf1._lazy import errors, rules
from npu_config.tf1._sessions import declared_iterations, is_closed, real_session
from npu_config.tf1.tensorflow import tf

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic

LOOP_VARIABLES = ("iterations_per_loop", "loop_cond", "zero", "one")
SCOPE = "npu_runconfig"

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


def count_faults(value: Any, name: str = "iterations_per_loop") -> List[Diagnostic]:
    """What is wrong with a number of iterations; nothing when it is a whole number from 1."""
    if not is_int(value):
        integral = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        return [
            rules.iteration_count.diagnostic(
                "{} must be an int from 1, got {!r} of type {}".format(
                    name, value, type(value).__name__
                ),
                option="iterations_per_loop",
                help="write int({})".format(name) if integral else "write it as a Python int",
            )
        ]
    if not 1 <= value <= _INT64_MAX:
        return [
            rules.iteration_count.diagnostic(
                "{} must be from 1 to 2**63 - 1, got {}".format(name, value),
                option="iterations_per_loop",
                help="use 1 for no loop, or the number of steps per session.run",
            )
        ]
    return []


def check_count(value: Any, name: str = "iterations_per_loop") -> None:
    """Refuse what is not a number of iterations.

    Raises:
        ArgumentError: it is not an int.
        NpuConfigError: it is below 1 or does not fit an int64.
    """
    faults = count_faults(value, name)
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
    return [
        rules.train_op_type.diagnostic(
            "train_op must be a tf.Operation, got {!r}".format(train_op),
            option="iterations_per_loop",
            help=help,
        )
    ]


def collection_of(name: str) -> str:
    """The collection that holds the loop variable ``name``."""
    return "{}_{}".format(SCOPE, name)


def find_variable(graph: Any, name: str) -> Optional[Any]:
    """The loop variable ``name`` of a graph, or None.

    Raises:
        StateError: the graph holds several.
    """
    found = graph.get_collection(collection_of(name))
    if len(found) > 1:
        raise rules.loop_name_taken.error(
            'the collection "{}" holds {} variables, the runtime knows one'.format(
                collection_of(name), len(found)
            ),
            option="iterations_per_loop",
            help="build the loop once per graph",
            kind=errors.StateError,
        )
    return found[0] if found else None


def found_variables(graph: Any) -> Optional[LoopVariables]:
    """The four loop variables of a graph, when all are there."""
    found = [find_variable(graph, name) for name in LOOP_VARIABLES]
    return None if None in found else LoopVariables(*found)


def find_operation(graph: Any, name: str) -> Optional[Any]:
    """The operation of that name, or None."""
    try:
        return graph.get_operation_by_name(name)
    except (KeyError, ValueError):
        return None


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
            rules.graph_cannot_be_changed.diagnostic(
                "the graph is finalized, the loop variables and {} cannot be added".format(
                    ITERATION_OP
                ),
                option="iterations_per_loop",
                help="call IterationPerLoop().create_iteration_per_loop_var(train_op) before the "
                "graph is frozen, and load_iteration_per_loop_var(sess, n) afterwards",
            )
        )
    if graph is not tf.get_default_graph():
        faults.append(
            rules.graph_cannot_be_changed.diagnostic(
                "train_op belongs to another graph than the default one",
                option="iterations_per_loop",
                help="call inside `with train_op.graph.as_default():`",
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
                    rules.loop_name_taken.diagnostic(
                        '"{}" is in the graph already and is not an int64 scalar variable that '
                        "tf.get_variable made".format(full),
                        option="iterations_per_loop",
                        help='leave the scope "{}" to the loop'.format(SCOPE),
                    )
                )
    return faults


def _iteration_op_taken(train_op: Any) -> Diagnostic:
    return rules.loop_name_taken.diagnostic(
        '"{0}" is in the graph already and does not run "{1}"; a second one would be called '
        '"{0}_1", which the runtime does not recognise'.format(ITERATION_OP, train_op.name),
        option="iterations_per_loop",
        help="group the training operations, tf.group(first, second), and build one loop",
    )


def session_faults(session: Any, graph: Any, iterations_per_loop: int) -> List[Diagnostic]:
    """What keeps a session from being loaded with a loop of a graph.

    Args:
        session: what was given as session.
        graph: the graph of the loop.
        iterations_per_loop: what is to be loaded.
    """
    real = real_session(session)
    if real is None:
        message = "sess must be a tf.Session, got {!r}".format(session)
        return [
            rules.session_cannot_be_used.diagnostic(message, help="pass the session that trains")
        ]
    faults = []
    if is_closed(real):
        faults.append(
            rules.session_cannot_be_used.diagnostic(
                "the session is closed", help="load the loop before the session is closed"
            )
        )
    if real.graph is not graph:
        faults.append(
            rules.session_cannot_be_used.diagnostic(
                "the session belongs to another graph than the loop",
                help="create it with tf.Session(graph=train_op.graph)",
            )
        )
    declared = declared_iterations(real)
    if declared not in (None, iterations_per_loop):
        faults.append(
            rules.iterations_per_loop_mismatch.diagnostic(
                "the loop is to run {} iterations, but the session was made with "
                "iterations_per_loop {}; the documentation requires both to be equal".format(
                    iterations_per_loop, declared
                ),
                option="iterations_per_loop",
                help="use {} in both places".format(declared),
            )
        )
    return faults
