"""Hooks that load the loop into the session of an Estimator or a MonitoredSession."""

from __future__ import annotations

import numbers
from typing import Any, Optional

from npu_config.core.names import ITERATION_OP
from npu_config.tf1._bases import SessionRunHook
from npu_config.tf1._lazy import errors
from npu_config.tf1.loop_checks import (
    LoopVariables,
    check_count,
    find_operation,
    session_faults,
)
from npu_config.tf1.loop_values import load, load_count, warn_if_not_declared, warn_no_effect
from npu_config.tf1.loops import create_variables, not_created
from npu_config.tf1.plan import check_steps
from npu_config.tf1.tensorflow import tf


class SetIterationsVarHook(SessionRunHook):
    """Creates the loop variables and loads them once the session exists.

    For an Estimator made with ``npu_run_config_init``, together with
    ``train_op = tf.group(train_op, name="IterationOp")`` in the model function.

    Args:
        iterations_per_loop: training steps per ``session.run``, as declared in the session.

    Raises:
        ArgumentError: the number is not an int (None included).
        NpuConfigError: the number is below 1.
    """

    def __init__(self, iterations_per_loop: Optional[int] = None) -> None:
        count: Any = iterations_per_loop
        if type(count) is not bool and isinstance(count, numbers.Integral):
            count = int(count)  # flags and numpy give integers of their own
        check_count(count)
        self._iterations_per_loop: int = count
        self._variables: Optional[LoopVariables] = None

    def begin(self) -> None:
        """Add the loop variables to the default graph.

        Raises:
            StateError: the graph cannot take them.
        """
        self._variables = create_variables()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Load the loop.

        Raises:
            StateError: ``begin`` was not called, or the session cannot be used.
        """
        if self._variables is None:
            raise errors.StateError([not_created("begin()")])
        count = self._iterations_per_loop
        graph = self._variables.iterations_per_loop.graph
        faults = session_faults(session, graph, count)
        if faults:
            raise errors.StateError(faults)
        load(session, self._variables, count)
        tf.logging.info("iterations_per_loop is loaded: %d steps per session.run", count)
        warn_if_not_declared(session, count)
        if count > 1 and find_operation(graph, ITERATION_OP) is None:
            warn_no_effect(
                'the graph has no operation named "{}": the runtime builds no loop and each '
                "session.run trains one step".format(ITERATION_OP),
                'group the training operation: tf.group(train_op, name="{}")'.format(ITERATION_OP),
            )


class NPUStopAtStepHook(SessionRunHook):
    """Stops at a step, with a last loop that is as short as it has to be.

    Before each ``session.run`` the loop is loaded with min(remaining steps,
    ``iterations_per_loop``), so that ten steps in loops of four run as 4, 4, 2.

    Args:
        iterations_per_loop: training steps per ``session.run``.
        num_steps: train so many steps from where the session starts.
        last_step: train until the global step has this value.

    Raises:
        NpuConfigError: not exactly one of ``num_steps`` and ``last_step`` is given, or a number
            is below 1.
        ArgumentError: a number is not an int.
    """

    def __init__(
        self,
        iterations_per_loop: int,
        num_steps: Optional[int] = None,
        last_step: Optional[int] = None,
    ) -> None:
        check_count(iterations_per_loop)
        check_steps(num_steps=num_steps, last_step=last_step)
        self._iterations_per_loop = iterations_per_loop
        self._num_steps = num_steps
        self._last_step = last_step
        self._variables: Optional[LoopVariables] = None
        self._global_step: Any = None
        self._step = 0
        self._loaded: Optional[int] = None

    def begin(self) -> None:
        """Add the loop variables to the default graph.

        Raises:
            StateError: the graph has no global step, or cannot take the variables.
        """
        self._global_step = tf.train.get_global_step()
        if self._global_step is None:
            raise errors.StateError([not_created("tf.train.get_or_create_global_step()")])
        self._variables = create_variables()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Read the step that the session starts from."""
        if self._variables is None:
            raise errors.StateError([not_created("begin()")])
        self._step = int(session.run(self._global_step))
        if self._last_step is None:
            self._last_step = self._step + (self._num_steps or 0)
        graph = self._variables.iterations_per_loop.graph
        faults = session_faults(session, graph, self._iterations_per_loop)
        if faults:
            raise errors.StateError(faults)
        load(session, self._variables, self._iterations_per_loop)
        self._loaded = None

    def before_run(self, run_context: Any) -> None:
        """Load the loop for the run that comes, when it differs from what is loaded."""
        assert self._variables is not None
        assert self._last_step is not None
        count = max(1, min(self._last_step - self._step, self._iterations_per_loop))
        if count != self._loaded:
            load_count(run_context.session, self._variables, count)
            self._loaded = count

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Ask the session to stop when the last step has been trained."""
        assert self._last_step is not None
        self._step = int(run_context.session.run(self._global_step))
        if self._step >= self._last_step:
            run_context.request_stop()
