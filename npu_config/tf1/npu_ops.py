"""``npu_ops``: the vendor's operators; what can be done without a device is done without."""

from __future__ import annotations

import numbers
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
from npu_config.tf1.operands import alike, operand
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
        ArgumentError: ``x`` is of neither float16 nor float32, or ``keep_prob`` of another type.
    """
    require_graph_mode("npu_ops.dropout")
    x = tf.convert_to_tensor(x, name="x")
    number = isinstance(keep_prob, numbers.Real)
    faults = []
    if not x.dtype.is_floating:
        faults.append("x of npu_ops.dropout must be of floats, got {}".format(x.dtype.name))
    if number and not 0 < keep_prob <= 1:
        faults.append(
            "keep_prob of npu_ops.dropout must be above 0 and at most 1, got {!r}".format(
                keep_prob
            )
        )
    if faults:
        raise errors.NpuConfigError(map(rules.operator_argument.diagnostic, faults))
    operand("npu_ops.dropout", x)
    if not number:
        keep_prob = operand("keep_prob of npu_ops.dropout", keep_prob, [x.dtype.base_dtype.name])
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
        raise rules.recurrent_layer_argument.error(
            'basic_lstm_cell takes activation "tanh" and keep_prob 1.0 here, got {!r} and '
            "{!r}".format(activation, keep_prob)
        )
    alike("npu_ops.basic_lstm_cell", [x, h, c, w, b])
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
    indices = operand("indices of npu_ops.scatter_elements", indices, ("int32", "int64"))
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


@vendor.stand_in("npu_ops")
def k_means_centroids(
    x: Any,
    y: Any,
    sum_square_y: Any,
    sum_square_x: Any,
    use_actual_distance: bool = False,
    name: Optional[str] = None,
) -> List[Any]:
    """A step of k-means: each point goes to the centroid that is nearest.

    Args:
        x: points, [m, d].
        y: centroids, [n, d].
        sum_square_y: squares of the centroids, [1, n].
        sum_square_x: squares of the points, [m, 1]; None leaves them out of the total.
        use_actual_distance: without effect, as in the original.
        name: name of the operations.

    Returns:
        The sums of the points of each centroid [n, d], their numbers [n, 1], and the total of
        the distances [1].
    """
    require_graph_mode("npu_ops.k_means_centroids")
    x, y = (operand("npu_ops.k_means_centroids", each, ("float32",)) for each in (x, y))
    with tf.name_scope(name, "KMeansCentroids"):
        distance = tf.reshape(sum_square_y, [1, -1]) - 2 * tf.matmul(x, y, transpose_b=True)
        if sum_square_x is not None:
            distance += tf.reshape(sum_square_x, [-1, 1])
        nearest, count = tf.argmin(distance, axis=1), tf.shape(y)[0]
        return [
            tf.math.unsorted_segment_sum(x, nearest, count),
            tf.math.unsorted_segment_sum(tf.ones_like(x[:, :1]), nearest, count),
            tf.reshape(tf.reduce_sum(tf.reduce_min(distance, axis=1)), [1]),
        ]


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
    "k_means_centroids",
    "scatter_elements",
    "shutdown_system",
]

__getattr__ = vendor.names_of("npu_ops", "npu_bridge.estimator.npu_ops")
