"""The hooks of training scripts: broadcast, checkpoints, output of tensors, step and loss."""

from __future__ import annotations

import numbers
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Optional, Sequence, Union

from npu_config.core.names import ITERATION_OP
from npu_config.tf1 import hccl_ops, ranks, vendor
from npu_config.tf1._bases import CheckpointSaverHook, Saver, SessionRunHook
from npu_config.tf1._lazy import errors, rules
from npu_config.tf1.loop_runs import find_operation
from npu_config.tf1.loops import (
    LoopVariables,
    check_count,
    create_variables,
    load_count,
    load_created,
    not_created,
    warn_if_not_declared,
    warn_no_effect,
)
from npu_config.tf1.plan import check_steps
from npu_config.tf1.tensorflow import tf

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic

__all__ = [
    "NPUBroadcastGlobalVariablesHook",
    "NPUCheckpointSaverHook",
    "NPUOutputTensorHook",
    "NPUSaver",
    "NPUStopAtStepHook",
    "NpuEmptyHook",
    "SetIterationsVarHook",
    "TellMeStepOrLossHook",
    "broadcast_global_variables",
    "npu_hooks_append",
]


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
        count = self._iterations_per_loop
        graph = load_created(session, self._variables, count, "begin()").loop_cond.graph
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
        load_created(session, self._variables, self._iterations_per_loop, "begin()")
        self._step = int(session.run(self._global_step))
        if self._last_step is None:
            self._last_step = self._step + (self._num_steps or 0)
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


OutputFunction = Callable[[List[Dict[Any, Any]]], Any]


class NpuEmptyHook(SessionRunHook):
    """Does nothing; takes the place of a hook that was removed."""


class NPUSaver(Saver):
    """``tf.train.Saver`` under the vendor's name."""


def broadcast_global_variables(root_rank: int) -> Any:
    """An operation that gives every trainable variable the value it has on one rank.

    Args:
        root_rank: the rank whose values count.

    Raises:
        VendorError: there is neither the vendor's library nor anything that connects ranks.
    """
    variables = tf.trainable_variables()
    received: Iterable[Any]
    if vendor.is_available() or not ranks.several("broadcast_global_variables"):
        broadcast = vendor.require("hccl_ops", "broadcast")
        received = (broadcast([variable], root_rank)[0] for variable in variables)
    else:
        received = hccl_ops.broadcast(variables, root_rank)
    return tf.group(*[tf.assign(*pair) for pair in zip(variables, received)])


class NPUBroadcastGlobalVariablesHook(SessionRunHook):
    """Gives all ranks the same trainable variables before training.

    With one rank it does nothing.

    Args:
        root_rank: the rank whose values count.
        index: the rank of this process.

    Raises:
        NpuConfigError: ``RANK_SIZE`` and ``CM_WORKER_SIZE`` are both set.
    """

    def __init__(self, root_rank: Optional[int] = None, index: Optional[int] = None) -> None:
        self._root_rank = root_rank
        self._index = index
        self._rank_size = ranks.rank_size()
        self._bcast_op: Any = None

    def begin(self) -> None:
        """Add the broadcast to the graph, once.

        Raises:
            VendorError: there are several ranks, and nothing that connects them.
            ArgumentError: there are several ranks and no root rank.
        """
        if self._rank_size <= 1 or self._is_in(tf.get_default_graph()):
            return
        if not vendor.is_available():
            ranks.several("NPUBroadcastGlobalVariablesHook", self._rank_size)
        if isinstance(self._root_rank, bool) or not isinstance(self._root_rank, int):
            raise errors.ArgumentError(
                [_fault("root_rank must be an int from 0", self._root_rank)]
            )
        self._bcast_op = broadcast_global_variables(self._root_rank)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Run the broadcast."""
        if self._bcast_op is not None:
            session.run(self._bcast_op)

    def _is_in(self, graph: Any) -> bool:
        return self._bcast_op is not None and self._bcast_op.graph is graph


class NPUCheckpointSaverHook(CheckpointSaverHook):
    """``tf.train.CheckpointSaverHook`` that also reads and logs the global step after every run.

    Args:
        checkpoint_dir: where to save.
        save_secs: seconds between checkpoints; this or ``save_steps``.
        save_steps: steps between checkpoints.
        saver: the ``Saver``; None: the one of ``scaffold``.
        checkpoint_basename: first part of the file names.
        scaffold: the ``Scaffold`` that has the saver.
        listeners: ``CheckpointSaverListener`` objects.

    Raises:
        ArgumentError: an interval is not a number.
        ValueError: none or both of the intervals are given.
    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: Optional[float] = None,
        save_steps: Optional[int] = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
        listeners: Optional[Sequence[Any]] = None,
    ) -> None:
        faults = [
            _fault("{} must be a number".format(name), value)
            for name, value in (("save_secs", save_secs), ("save_steps", save_steps))
            if value is not None and not isinstance(value, (int, float))
        ]
        if faults:
            raise errors.ArgumentError(faults)
        super().__init__(
            checkpoint_dir, save_secs, save_steps, saver, checkpoint_basename, scaffold, listeners
        )

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Log the global step, then save when it is time."""
        tf.logging.info("global_step: %s", run_context.session.run(self._global_step_tensor))
        super().after_run(run_context, run_values)


class NPUOutputTensorHook(SessionRunHook):
    """Collects the values of tensors and hands them over every so many runs, and at the end.

    Args:
        tensors: tag to tensor or tensor name, or a list of them (each is its own tag).
        dependencies: operations that run before the tensors are read; the tensors must be
            tensors then.
        output_fn: called with a list of dicts, tag to value, one for each run.
        output_every_n_steps: number of runs between two calls, from 1.

    Raises:
        ArgumentError: an argument has the wrong type.
        NpuConfigError: ``output_every_n_steps`` is below 1.
    """

    def __init__(
        self,
        tensors: Union[Dict[Any, Any], Sequence[Any]],
        dependencies: Any = None,
        output_fn: Optional[OutputFunction] = None,
        output_every_n_steps: int = 0,
    ) -> None:
        _check_output_arguments(tensors, dependencies, output_fn, output_every_n_steps)
        assert output_fn is not None
        self._output_fn = output_fn
        self._every = output_every_n_steps
        named = dict(tensors if isinstance(tensors, dict) else zip(tensors, tensors))
        if dependencies is not None:
            if not isinstance(dependencies, (list, tuple)):
                dependencies = [dependencies]
            with tf.control_dependencies(list(dependencies)):
                named = {tag: tf.identity(tensor) for tag, tensor in named.items()}
        self._tensors = named
        self._fetches: Dict[Any, Any] = {}
        self._output_list: List[Dict[Any, Any]] = []
        self._runs = 0

    def begin(self) -> None:
        """Find the tensors that were given by name."""
        graph = tf.get_default_graph()
        self._fetches = {
            tag: graph.as_graph_element(tensor) for tag, tensor in self._tensors.items()
        }
        self._runs = 0

    def before_run(self, run_context: Any) -> Any:
        """Fetch the tensors with the run."""
        return tf.train.SessionRunArgs(self._fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Collect, and hand over when it is time."""
        self._output_list.append(dict(run_values.results))
        self._runs += 1
        if self._runs % self._every == 0:
            self._hand_over()

    def end(self, session: Any) -> None:
        """Hand over what is left."""
        if self._output_list:
            self._hand_over()

    def _hand_over(self) -> None:
        collected, self._output_list = self._output_list, []
        self._output_fn(collected)


def _check_output_arguments(tensors: Any, dependencies: Any, output_fn: Any, every: Any) -> None:
    faults = []
    if not isinstance(tensors, (dict, list, tuple)):
        faults.append(_fault("tensors must be a dict or a list", tensors))
    elif dependencies is not None:
        if not isinstance(tensors, dict):
            faults.append(_fault("with dependencies, tensors must be a dict", tensors))
        else:
            faults += [
                _fault('with dependencies, "{}" must be a tensor, not a name'.format(tag), tensor)
                for tag, tensor in tensors.items()
                if isinstance(tensor, str)
            ]
    if not callable(output_fn):
        faults.append(_fault("output_fn must be a function of a list of dicts", output_fn))
    if isinstance(every, bool) or not isinstance(every, int):
        faults.append(_fault("output_every_n_steps must be an int from 1", every))
    if faults:
        raise errors.ArgumentError(faults)
    if every < 1:
        raise errors.NpuConfigError([_fault("output_every_n_steps must be at least 1", every)])


class TellMeStepOrLossHook(SessionRunHook):
    """Tells the adapter the step and the loss through the environment, after every run.

    For ``experimental_accelerate_train_mode``, which switches to high precision by them.

    Args:
        step: tensor of the current step, or its name; sets ``STEP_NOW``.
        total_step: number of steps in all; sets ``TOTAL_STEP``.
        loss: tensor of the loss, or its name; sets ``LOSS_NOW``.
        final_loss: the loss that is aimed at; sets ``TARGET_LOSS``.

    Raises:
        NpuConfigError: neither step nor loss is given, or a target is not a number.
    """

    def __init__(
        self,
        step: Any = None,
        total_step: Union[int, str, None] = None,
        loss: Any = None,
        final_loss: Union[float, str, None] = None,
    ) -> None:
        faults = []
        if step is None and loss is None:
            faults.append(_fault("either step or loss must be set", None))
        faults += [
            _fault("{} must be a number".format(name), value)
            for name, value in (("total_step", total_step), ("final_loss", final_loss))
            if value is not None and not _is_number(value)
        ]
        if faults:
            raise errors.NpuConfigError(faults)
        self._tensors = {
            name: tensor
            for name, tensor in (("STEP_NOW", step), ("LOSS_NOW", loss))
            if tensor is not None
        }
        values = {
            "STEP_NOW": None if step is None else "0",
            "TOTAL_STEP": total_step,
            "LOSS_NOW": None if loss is None else "0.0",
            "TARGET_LOSS": final_loss,
        }
        os.environ.update(
            {name: str(value) for name, value in values.items() if value is not None}
        )

    def before_run(self, run_context: Any) -> Any:
        """Fetch the tensors with the run."""
        graph = run_context.session.graph
        return tf.train.SessionRunArgs(
            {name: _as_tensor(graph, tensor) for name, tensor in self._tensors.items()}
        )

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Set ``STEP_NOW`` and ``LOSS_NOW``."""
        os.environ.update({name: str(value) for name, value in run_values.results.items()})


def _as_tensor(graph: Any, given: Any) -> Any:
    """A tensor; of a variable its value, of another operation the first output."""
    element = graph.as_graph_element(given)
    operation = element if isinstance(element, tf.Operation) else element.op
    for variable in graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES):
        if variable.op is operation:
            return graph.as_graph_element(variable)
    return operation.outputs[0] if element is operation else element


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _fault(message: str, value: Any) -> Diagnostic:
    return rules.hook_argument.diagnostic("{}, got {!r}".format(message, value))


def npu_hooks_append(hooks_list: Any = ()) -> List[Any]:
    """Add the broadcast of variables from rank 0 to the hooks of an Estimator or session.

    Args:
        hooks_list: a list is extended in place; anything else is replaced by a new list.

    Raises:
        NpuConfigError: ``RANK_ID`` is not a number, or ``RANK_SIZE`` and ``CM_WORKER_SIZE`` are
            both set.
    """
    hooks = hooks_list if isinstance(hooks_list, list) else []
    hooks.append(NPUBroadcastGlobalVariablesHook(0, ranks.rank_id()))
    return hooks
