"""``npu_ops``: the vendor's operators; what can be done without a device is done without."""

from __future__ import annotations

from typing import Any, List, Optional

from npu_config.tf1 import npu_unary_ops as gen_npu_ops
from npu_config.tf1 import vendor
from npu_config.tf1._lazy import errors, rules
from npu_config.tf1.npu_update_ops import (
    LARS,
    LARSV2,
    adam_apply_one_assign,
    adam_apply_one_with_decay_assign,
)
from npu_config.tf1.tensorflow import require_graph_mode, tf

DEFAULT_GRAPH_SEED = 87654321


@vendor.stand_in("npu_ops")
def NPUInit(name: Optional[str] = None) -> Any:
    """An operation that takes the device; without one, it does nothing."""
    require_graph_mode("NPUInit")
    return tf.no_op(name=name or "NPUInit")


@vendor.stand_in("npu_ops")
def NPUShutdown(name: Optional[str] = None) -> Any:
    """An operation that gives the device back; without one, it does nothing."""
    require_graph_mode("NPUShutdown")
    return tf.no_op(name=name or "NPUShutdown")


@vendor.stand_in("npu_ops")
def initialize_system(name: Optional[str] = None) -> Any:
    """``NPUInit`` under its older name."""
    return NPUInit(name)


@vendor.stand_in("npu_ops")
def shutdown_system(name: Optional[str] = None) -> Any:
    """``NPUShutdown`` under its older name."""
    return NPUShutdown(name)


@vendor.stand_in("npu_ops")
def dropout(
    x: Any, keep_prob: Any, noise_shape: Any = None, seed: Any = None, name: Optional[str] = None
) -> Any:
    """Dropout on the device; without one, ``tf.nn.dropout``.

    Args:
        x: a tensor of floats.
        keep_prob: the share that is kept, above 0 and at most 1.
        noise_shape: shape of the mask.
        seed: seed of the mask.
        name: name of the operation.

    Raises:
        NpuConfigError: ``x`` is not a float tensor, or ``keep_prob`` is out of range.
    """
    require_graph_mode("npu_ops.dropout")
    x = tf.convert_to_tensor(x, name="x")
    faults = []
    if not x.dtype.is_floating:
        faults.append(
            rules.GRAPH_ATTRIBUTE.diagnostic(
                "x of npu_ops.dropout must be of floats, got {}".format(x.dtype.name)
            )
        )
    if isinstance(keep_prob, (int, float)) and not 0 < keep_prob <= 1:
        faults.append(
            rules.GRAPH_ATTRIBUTE.diagnostic(
                "keep_prob of npu_ops.dropout must be above 0 and at most 1, got {!r}".format(
                    keep_prob
                )
            )
        )
    if faults:
        raise errors.NpuConfigError(faults)
    if isinstance(keep_prob, float) and keep_prob == 1.0:
        return x
    return tf.nn.dropout(x, rate=1 - keep_prob, noise_shape=noise_shape, seed=seed, name=name)


@vendor.stand_in("npu_ops")
def basic_lstm_cell(
    x: Any,
    h: Any,
    c: Any,
    w: Any,
    b: Any,
    keep_prob: float,
    forget_bias: float,
    state_is_tuple: bool,
    activation: str,
    name: Optional[str] = None,
) -> List[Any]:
    """One step of an LSTM; gives c, h, i, j, f, o and tanh(c).

    Args:
        x: input, [batch, size].
        h: state, [batch, hidden].
        c: cell state.
        w: weights as of ``tf.nn.rnn_cell.BasicLSTMCell``.
        b: biases.
        keep_prob: 1.0.
        forget_bias: is added to the forget gate.
        state_is_tuple: without effect.
        activation: "tanh".
        name: name of the operation.

    Raises:
        NpuConfigError: another activation, or dropout.
    """
    require_graph_mode("npu_ops.basic_lstm_cell")
    if activation != "tanh" or keep_prob != 1.0:
        raise rules.RECURRENT_LAYER.error(
            'basic_lstm_cell takes activation "tanh" and keep_prob 1.0 here, got {!r} and '
            "{!r}".format(activation, keep_prob)
        )
    with tf.name_scope(name, "BasicLSTMCell"):
        i, j, f, o = tf.split(tf.matmul(tf.concat([x, h], axis=1), w) + b, 4, axis=1)
        i, j, f, o = tf.sigmoid(i), tf.tanh(j), tf.sigmoid(f + forget_bias), tf.sigmoid(o)
        ct = c * f + i * j
        tanhct = tf.tanh(ct)
        return [ct, o * tanhct, i, j, f, o, tanhct]


@vendor.stand_in("npu_ops")
def scatter_elements(
    data: Any, indices: Any, updates: Any, axis: int = 0, name: Optional[str] = None
) -> Any:
    """A copy of ``data`` in which ``updates`` are at ``indices`` along an axis (as in ONNX)."""
    require_graph_mode("npu_ops.scatter_elements")
    data = tf.convert_to_tensor(data)
    shape = tf.shape(indices)
    places = [
        tf.cast(indices, tf.int32)
        if number == axis % data.shape.ndims
        else tf.broadcast_to(
            tf.reshape(tf.range(shape[number]), [-1] + [1] * (data.shape.ndims - 1 - number)),
            shape,
        )
        for number in range(data.shape.ndims)
    ]
    return tf.tensor_scatter_nd_update(data, tf.stack(places, axis=-1), updates, name=name)


__all__ = [
    "DEFAULT_GRAPH_SEED",
    "LARS",
    "LARSV2",
    "NPUInit",
    "NPUShutdown",
    "adam_apply_one_assign",
    "adam_apply_one_with_decay_assign",
    "basic_lstm_cell",
    "dropout",
    "gen_npu_ops",
    "initialize_system",
    "scatter_elements",
    "shutdown_system",
]

__getattr__ = vendor.names_of("npu_ops")
