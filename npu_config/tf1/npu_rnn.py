"""``npu_rnn``: recurrent networks unrolled, as the device wants them."""

from __future__ import annotations

from typing import Any, Optional, Tuple

from npu_config.tf1 import vendor
from npu_config.tf1.tensorflow import require_graph_mode, tf


@vendor.stand_in("npu_rnn")
def npu_dynamic_rnn(
    cell: Any,
    inputs: Any,
    initial_state: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Optional[str] = None,
) -> Tuple[Any, Any]:
    """``tf.nn.static_rnn`` over a tensor.

    Args:
        cell: the RNN cell.
        inputs: a tensor whose first axis is time.
        initial_state: the state to begin with.
        dtype: of the state, without ``initial_state``.
        sequence_length: lengths of the sequences in the batch.
        scope: variable scope.

    Returns:
        The outputs, time first, and the last state.
    """
    require_graph_mode("npu_dynamic_rnn")
    outputs, state = tf.nn.static_rnn(
        cell,
        tf.unstack(inputs, axis=0),
        initial_state=initial_state,
        dtype=dtype,
        sequence_length=sequence_length,
        scope=scope,
    )
    return tf.stack(outputs, axis=0), state


__getattr__ = vendor.rest_of("npu_rnn", "npu_bridge.estimator.npu.npu_rnn")
