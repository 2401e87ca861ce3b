"""What is found in the runs of a session that declares a loop."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Dict, List, Set

from npu_config.core.names import ITERATION_OP
from npu_config.tf1._lazy import loop_rules
from npu_config.tf1._warn import warn
from npu_config.tf1.operations import needed
from npu_config.tf1.purpose import TRAINS, purpose
from npu_config.tf1.tensorflow import tf

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic

_OPTION = "iterations_per_loop"
_COUNTS = ("AssignAdd", "AssignAddVariableOp")


class LoopFindings:
    """The findings of one session; each kind is said once.

    Args:
        declared: what the session says of ``iterations_per_loop``.
    """

    def __init__(self, declared: int) -> None:
        self._declared = declared
        self._said: Set[str] = set()
        self._idle: Set[Any] = set()

    def _is_new(self, what: str) -> bool:
        is_new = what not in self._said
        self._said.add(what)
        return is_new

    def no_loop(self, operations: List[Any], instead: str = "") -> None:
        """A run reaches no loop; that matters when it trains.

        Args:
            operations: what is fetched.
            instead: what to do; empty: build the loop.
        """
        if "loop" in self._said:
            return
        for operation in operations:
            if operation in self._idle:
                continue
            if not _trains(operation):
                self._idle.add(operation)
            elif self._is_new("loop"):
                message = (
                    '"iterations_per_loop" is {} in the session, and the run of "{}" reaches no '
                    "{}: each session.run trains one step"
                ).format(self._declared, operation.name, ITERATION_OP)
                help = "call train_op = util.set_iteration_per_loop(sess, train_op, {})"
                warn(_of_script("NPU886", message, instead or help.format(self._declared)))

    def not_loaded(self) -> None:
        """The loop is run, and no number of iterations is loaded."""
        if self._is_new("loop"):
            message = (
                '"iterations_per_loop" is {} in the session, and the loop was never loaded: each '
                "session.run trains one step"
            ).format(self._declared)
            help = "load it: loop.load_iteration_per_loop_var(sess, {}), or a SetIterationsVarHook"
            warn(
                loop_rules.loop_has_no_effect.diagnostic(
                    message, option=_OPTION, help=help.format(self._declared)
                )
            )

    def one_step(self, count: int, help: str) -> None:
        """Loops are switched off, and one is run.

        Args:
            count: its iterations.
            help: what switches it on.
        """
        if self._is_new("once"):
            message = "each session.run trains one step here, and {} on the device".format(count)
            warn(loop_rules.loop_runs_once.diagnostic(message, option=_OPTION, help=help))

    def one_shot(self, name: str) -> None:
        """The device refuses an iterator.

        Args:
            name: that of the one-shot iterator that a run needs.
        """
        if self._is_new("one-shot"):
            message = (
                '"{}" is a one-shot iterator, and "iterations_per_loop" is {} in the session; the '
                "adapter aborts the process"
            ).format(name, self._declared)
            help = "use tf.data.make_initializable_iterator and run its initializer"
            warn(_of_script("NPU888", message, help))

    def batches(self, feed_dict: Dict[Any, Any], count: int) -> None:
        """A loop is fed; a single value (a rate, a switch) may be, a batch is always the same.

        Args:
            feed_dict: what is fed.
            count: its iterations.
        """
        for key, value in feed_dict.items():
            if "feed" not in self._said and _is_batch(value) and self._is_new("feed"):
                message = (
                    '"{}" is fed to a loop of {} iterations; each of them gets the same batch'
                ).format(getattr(key, "name", key), count)
                help = "read the data from a Dataset with an initializable iterator"
                warn(_of_script("NPU863", message, help))


def _trains(operation: Any) -> bool:
    """True when a run of an operation certainly makes a training step."""
    steps = operation.graph.get_collection(tf.GraphKeys.GLOBAL_STEP)
    counters = {step.op for step in steps if hasattr(step, "op")}
    return purpose([operation]) == TRAINS or any(
        each.type in _COUNTS and each.inputs[0].op in counters for each in needed([operation])
    )


def _is_batch(value: Any) -> bool:
    """True for an array of at least one axis."""
    shape = getattr(value, "shape", None)
    return bool(value) if isinstance(value, (list, tuple)) else bool(shape)


def _of_script(rule: str, message: str, help: str) -> Diagnostic:
    """A finding of a rule that the checks of scripts declare."""
    from npu_config.core.rule import REGISTRY

    importlib.import_module("npu_config.script")
    return REGISTRY[rule].diagnostic(message, option=_OPTION, help=help)
