"""``host_call`` of NPUEstimatorSpec: a function that the host runs on tensors of every step.

On the device the tensors are sent through a channel and the function runs on what comes out;
without a device it runs on the tensors themselves.
"""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Sequence, Tuple, Union

from npu_config.tf1 import vendor
from npu_config.tf1._bases import SessionRunHook
from npu_config.tf1._lazy import errors, rules
from npu_config.tf1.tensorflow import tf

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic

Tensors = Union[Sequence[Any], Dict[str, Any]]
HostCall = Tuple[Callable[..., Any], Tensors]


def check_host_call(host_call: Any) -> None:
    """Refuse what is not a pair of a function and the tensors that it takes.

    Raises:
        ArgumentError: the first is not a function.
        NpuConfigError: it is not a pair, or the tensors are not a list, tuple or dict.
        StateError: the function takes another number of arguments.
    """
    if not isinstance(host_call, (list, tuple)) or len(host_call) != 2:
        raise errors.NpuConfigError([_fault("host_call must be (function, tensors)", host_call)])
    function, tensors = host_call
    if not callable(function):
        raise errors.ArgumentError([_fault("host_call[0] must be a function", function)])
    if not isinstance(tensors, (list, tuple, dict)):
        raise errors.NpuConfigError(
            [_fault("host_call[1] must be a list, tuple or dict of tensors", tensors)]
        )
    if isinstance(tensors, (list, tuple)) and not _takes(function, len(tensors)):
        raise errors.StateError(
            [
                _fault(
                    "host_call[0] does not take the {} tensors of host_call[1]".format(
                        len(tensors)
                    ),
                    function,
                )
            ]
        )


def _takes(function: Callable[..., Any], count: int) -> bool:
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # a built-in function that does not say
        return True
    return True


def _fault(message: str, value: Any) -> Diagnostic:
    return rules.estimator_spec.diagnostic(
        "{}, got {!r}".format(message, value),
        help="write host_call=(write_summaries, [global_step, loss])",
    )


def _call(function: Callable[..., Any], tensors: Tensors, values: Sequence[Any]) -> Any:
    if isinstance(tensors, dict):
        return function(**dict(zip(tensors, values)))
    return function(*values)


class _EveryStepHook(SessionRunHook):
    """Runs what a function made of the step's tensors, with the step."""

    def __init__(self, operations: Any) -> None:
        self._operations = operations

    def before_run(self, run_context: Any) -> Any:
        """Fetch the operations with the run."""
        return tf.train.SessionRunArgs(self._operations)


def place_host_call(host_call: HostCall, after: Any, channel: str) -> Tuple[Any, List[Any]]:
    """Let the host run a function on tensors of every step.

    Args:
        host_call: the function and its tensors.
        after: the operation or tensor of the step.
        channel: name of the channel on the device, the mode of the Estimator.

    Returns:
        The operation of the step, which sends the tensors where that is needed, and the hooks.
    """
    function, tensors = host_call
    values = list(tensors.values()) if isinstance(tensors, dict) else list(tensors)
    if not vendor.is_available():
        return after, [_EveryStepHook(_call(function, tensors, values))]
    with tf.control_dependencies([after]):
        send = vendor.require("npu_ops", "outfeed_enqueue_op")(channel_name=channel, inputs=values)
    received = vendor.require("npu_ops", "outfeed_dequeue_op")(
        channel_name=channel,
        output_types=[value.dtype for value in values],
        output_shapes=[value.shape for value in values],
    )
    hook = vendor.require("npu_hook", "NPUInfeedOutfeedSessionHook")
    with tf.control_dependencies([send]):
        after = tf.group(after) if isinstance(after, tf.Operation) else tf.identity(after)
    return after, [hook(_call(function, tensors, received), channel)]


def log_hooks() -> List[Any]:
    """The hook that prints what the device logs, where there is a device."""
    hook = vendor.find("npu_hook", "NPULogOutfeedSessionHook")
    return [] if hook is None else [hook(sys.stderr)]
