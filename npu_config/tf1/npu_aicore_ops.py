"""``npu_aicore_ops``: operators of the device's cores, those that a CPU can compute."""

from __future__ import annotations

import math
from typing import Any, List, Optional, Sequence

from npu_config.tf1 import npu_ops, vendor
from npu_config.tf1 import npu_unary_ops as npu_aicore_ops
from npu_config.tf1.operands import alike, operand
from npu_config.tf1.tensorflow import require_graph_mode, tf

DEFAULT_GRAPH_SEED = 87654321

# The polynomial of I-BERT (Kim et al., 2021).
_A = -0.2888
_B = -1.769


@vendor.stand_in("npu_aicore_ops")
def fast_gelu_v2(x: Any, name: Optional[str] = None) -> Any:
    """The Gaussian error linear unit by a polynomial of the second degree."""
    require_graph_mode("npu_aicore_ops.fast_gelu_v2")
    x = operand("fast_gelu_v2", x)
    shortened = tf.minimum(tf.abs(x) / math.sqrt(2), -_B) + _B
    return tf.multiply(x, 0.5 * tf.sign(x) * (_A * tf.square(shortened) + 1) + 0.5, name=name)


@vendor.stand_in("npu_aicore_ops")
def centralization(x: Any, axes: Sequence[int], name: Optional[str] = None) -> Any:
    """A tensor minus its mean over some axes."""
    require_graph_mode("npu_aicore_ops.centralization")
    if not isinstance(axes, (list, tuple)):
        raise TypeError("axes of centralization must be a list of integers, got {!r}".format(axes))
    x = operand("centralization", x)
    return tf.subtract(x, tf.reduce_mean(x, list(axes), keepdims=True), name=name)


@vendor.stand_in("npu_aicore_ops")
def prelu(x: Any, weight: Any) -> Any:
    """x where it is positive, else x times a weight."""
    require_graph_mode("npu_aicore_ops.prelu")
    x = operand("prelu", x)
    alike("prelu", [x, weight])
    return tf.maximum(x, 0) + weight * tf.minimum(x, 0)


@vendor.stand_in("npu_aicore_ops")
def dropout_v3(
    x: Any, keep_prob: Any, noise_shape: Any = None, seed: Any = None, name: Optional[str] = None
) -> Any:
    """``npu_ops.dropout`` by another operator of the device."""
    return npu_ops.dropout(x, keep_prob, noise_shape, seed, name)


@vendor.stand_in("npu_aicore_ops")
def dropout_v4(
    x: Any,
    keep_prob: Any,
    noise_shape: Any = None,
    seed: Any = None,
    output_dtype: Any = tf.bool,
    name: Optional[str] = None,
) -> Any:
    """``npu_ops.dropout`` by another operator; the type of its mask has no effect."""
    return npu_ops.dropout(x, keep_prob, noise_shape, seed, name)


@vendor.stand_in("npu_aicore_ops")
def nonzero(
    x: Any, transpose: bool = False, output_type: Any = tf.int64, name: Optional[str] = None
) -> Any:
    """The indices of what is not zero: a row for each, or a column with ``transpose``."""
    require_graph_mode("npu_aicore_ops.nonzero")
    found = tf.cast(tf.where(tf.not_equal(x, tf.zeros_like(x))), output_type)
    return tf.identity(tf.transpose(found) if transpose else found, name=name)


@vendor.stand_in("npu_aicore_ops")
def nonzerowithvalue(
    x: Any, transpose: bool = False, output_type: Any = tf.int64, name: Optional[str] = None
) -> List[Any]:
    """What is not zero in a matrix: the values, their indices one after another, their number.

    Values and indices are as many as if nothing were zero; what is left over is zero.
    """
    require_graph_mode("npu_aicore_ops.nonzerowithvalue")
    with tf.name_scope(name, "NonZeroWithValue"):
        x = tf.convert_to_tensor(x)
        found = tf.where(tf.not_equal(x, tf.zeros_like(x)))
        left = tf.size(x) - tf.shape(found)[0]
        places = tf.reshape(tf.transpose(found) if transpose else found, [-1])
        return [
            tf.pad(tf.gather_nd(x, found), [[0, left]]),
            tf.pad(tf.cast(places, output_type), [[0, 2 * left]]),
            tf.cast(tf.shape(found)[:1], output_type),
        ]


@vendor.stand_in("npu_aicore_ops")
def layer_norm(
    x: Any,
    gamma: Any,
    beta: Any,
    begin_norm_axis: int = 0,
    begin_params_axis: int = 0,
    epsilon: float = 1e-7,
    name: Optional[str] = None,
) -> List[Any]:
    """Normalise over the axes from ``begin_norm_axis``; gives the result, mean and variance.

    Args:
        x: a tensor of floats of known rank.
        gamma: factors.
        beta: summands.
        begin_norm_axis: first axis; the default 0 normalises over the batch, too.
        begin_params_axis: first axis of gamma and beta.
        epsilon: is added to the variance.
        name: name of the operation.

    Raises:
        ValueError: ``begin_norm_axis`` is not an axis of ``x``.
    """
    require_graph_mode("npu_aicore_ops.layer_norm")
    x = operand("layer_norm", x)
    alike("layer_norm", [x, gamma, beta])
    rank = x.shape.ndims
    if not -rank <= begin_norm_axis < rank:
        raise ValueError("begin_norm_axis {} is not an axis of {}".format(begin_norm_axis, x))
    axes = list(range(begin_norm_axis % rank, rank))
    mean, variance = tf.nn.moments(x, axes, keepdims=True)
    y = tf.nn.batch_normalization(x, mean, variance, beta, gamma, epsilon, name=name)
    return [y, mean, variance]


__all__ = [
    "DEFAULT_GRAPH_SEED",
    "centralization",
    "dropout_v3",
    "dropout_v4",
    "fast_gelu_v2",
    "layer_norm",
    "nonzero",
    "nonzerowithvalue",
    "npu_aicore_ops",
    "prelu",
]

__getattr__ = vendor.rest_of("npu_aicore_ops", "npu_bridge.estimator.npu_aicore_ops")
