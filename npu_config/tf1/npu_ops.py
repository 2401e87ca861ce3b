"""``npu_ops``: the vendor's operators; what can be done without a device is done without.

The two of LAMB are those of ``npu_vector_ops``: they update variables as those of Adam do.
"""

from __future__ import annotations

import numbers
from typing import Any, List, Optional, Sequence, Tuple

from npu_config.tf1 import npu_unary_ops as gen_npu_ops
from npu_config.tf1 import vendor
from npu_config.tf1._lazy import errors, rules
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
        faults.append(
            "x of npu_ops.dropout must be a tensor of floats, got {}".format(x.dtype.name)
        )
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
            'basic_lstm_cell supports only activation "tanh" and keep_prob 1.0, got {!r} and '
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


def _lars(w: Any, g: Any, weight_decay: Any, hyperpara: float, epsilon: float) -> Tuple[Any, Any]:
    """The coefficient, and the gradient with weight decay."""
    w, g = (operand("LARS", each, ("float32",)) for each in (w, g))
    norm = tf.norm(w)
    coefficient = hyperpara * norm / (tf.norm(g) + weight_decay * norm + epsilon)
    return coefficient, g + weight_decay * w


@vendor.stand_in("npu_ops")
def LARS(
    inputs_w: Sequence[Any],
    inputs_g: Sequence[Any],
    weight_decay: Any,
    hyperpara: float = 0.001,
    epsilon: float = 0.00001,
    name: Optional[str] = None,
) -> List[Any]:
    """Gradients scaled layer by layer: hyperpara |w| / (|g| + wd |w| + epsilon) (g + wd w).

    Args:
        inputs_w: the weights.
        inputs_g: their gradients, as many.
        weight_decay: factor of the weights.
        hyperpara: the trust coefficient.
        epsilon: keeps the quotient finite.
        name: name of the operation.

    Raises:
        ValueError: there are more weights than gradients, or fewer.
    """
    require_graph_mode("npu_ops.LARS")
    if len(inputs_w) != len(inputs_g):
        raise ValueError(
            "LARS needs as many gradients as weights, got {} and {}".format(
                len(inputs_g), len(inputs_w)
            )
        )
    with tf.name_scope(name, "LARS"):
        pairs = zip(inputs_w, inputs_g)
        scaled = (_lars(w, g, weight_decay, hyperpara, epsilon) for w, g in pairs)
        return [coefficient * gradient for coefficient, gradient in scaled]


@vendor.stand_in("npu_ops")
def LARSV2(
    input_weight: Any,
    input_grad: Any,
    weight_decay: Any,
    learning_rate: Any,
    hyperpara: float = 0.001,
    epsilon: float = 0.00001,
    use_clip: bool = False,
    name: Optional[str] = None,
) -> Any:
    """As :func:`LARS` for one weight; clipped, coefficient / learning_rate is in [0, 1]."""
    require_graph_mode("npu_ops.LARSV2")
    with tf.name_scope(name, "LARSV2"):
        coefficient, gradient = _lars(input_weight, input_grad, weight_decay, hyperpara, epsilon)
        if use_clip:
            coefficient = tf.clip_by_value(coefficient / learning_rate, 0.0, 1.0)
        return coefficient * gradient


def _moments(
    what: str, g: Any, v: Any, m: Any, w: Any, beta1: Any, rest1: Any, beta2: Any, rest2: Any
) -> Any:
    """The next v and m of Adam, assigned."""
    require_graph_mode(what)
    alike(what, [g, v, m, w, beta1, rest1, beta2, rest2])
    return (
        tf.assign(v, v * beta2 + rest2 * tf.square(g)),
        tf.assign(m, m * beta1 + rest1 * g),
    )


@vendor.stand_in("npu_ops")
def adam_apply_one_assign(
    input0: Any,
    input1: Any,
    input2: Any,
    input3: Any,
    input4: Any,
    mul0_x: Any,
    mul1_x: Any,
    mul2_x: Any,
    mul3_x: Any,
    add2_y: Any,
    name: Optional[str] = None,
) -> Any:
    """A step of Adam without bias correction: an operation that assigns v, m and the parameter.

    Args:
        input0: gradient.
        input1: variable v.
        input2: variable m.
        input3: the parameter, a variable.
        input4: learning rate.
        mul0_x: beta1.
        mul1_x: 1 - beta1.
        mul2_x: beta2.
        mul3_x: 1 - beta2.
        add2_y: epsilon.
        name: name of the operation.
    """
    what = "npu_ops.adam_apply_one_assign"
    v, m = _moments(what, input0, input1, input2, input3, mul0_x, mul1_x, mul2_x, mul3_x)
    step = input4 * (m / (tf.sqrt(v) + add2_y))
    return tf.group(v, m, tf.assign_sub(input3, step), name=name)


@vendor.stand_in("npu_ops")
def adam_apply_one_with_decay_assign(
    input0: Any,
    input1: Any,
    input2: Any,
    input3: Any,
    input4: Any,
    mul0_x: Any,
    mul1_x: Any,
    mul2_x: Any,
    mul3_x: Any,
    mul4_x: Any,
    add2_y: Any,
    name: Optional[str] = None,
) -> Any:
    """As :func:`adam_apply_one_assign`, with weight decay: ``mul4_x`` times the parameter."""
    what = "npu_ops.adam_apply_one_with_decay_assign"
    v, m = _moments(what, input0, input1, input2, input3, mul0_x, mul1_x, mul2_x, mul3_x)
    step = input4 * (m / (tf.sqrt(v) + add2_y) + mul4_x * input3)
    return tf.group(v, m, tf.assign_sub(input3, step), name=name)


@vendor.stand_in("tbe.npu_vector_ops")
def lamb_apply_optimizer_assign(
    input0: Any,
    input1: Any,
    input2: Any,
    input3: Any,
    mul0_x: Any,
    mul1_x: Any,
    mul2_x: Any,
    mul3_x: Any,
    add2_y: Any,
    steps: Any,
    do_use_weight: Any,
    weight_decay_rate: Any,
    name: Optional[str] = None,
) -> Tuple[Any, Any, Any]:
    """The update of LAMB, and the next v and m, which are assigned.

    Args:
        input0: gradient.
        input1: variable v.
        input2: variable m.
        input3: the parameter.
        mul0_x: beta1.
        mul1_x: 1 - beta1.
        mul2_x: beta2.
        mul3_x: 1 - beta2.
        add2_y: epsilon.
        steps: number of the step, from 1, for the bias correction.
        do_use_weight: 1 with weight decay, 0 without.
        weight_decay_rate: factor of the parameter.
        name: name of the operation.
    """
    what = "npu_vector_ops.lamb_apply_optimizer_assign"
    with tf.name_scope(name, "LambApplyOptimizerAssign"):
        v, m = _moments(what, input0, input1, input2, input3, mul0_x, mul1_x, mul2_x, mul3_x)
        first = m / (1 - tf.pow(mul0_x, steps))
        second = tf.sqrt(v / (1 - tf.pow(mul2_x, steps))) + add2_y
        return first / second + do_use_weight * weight_decay_rate * input3, v, m


@vendor.stand_in("tbe.npu_vector_ops")
def lamb_apply_weight_assign(
    input0: Any, input1: Any, input2: Any, input3: Any, input4: Any, name: Optional[str] = None
) -> Any:
    """Subtract the update of LAMB from a parameter, a variable.

    Args:
        input0: norm of the parameter.
        input1: norm of the update.
        input2: learning rate.
        input3: the update.
        input4: the parameter.
        name: name of the operation.

    Returns:
        The new value; the ratio of the norms is 1 where one of them is not above 0.
    """
    require_graph_mode("npu_vector_ops.lamb_apply_weight_assign")
    alike("npu_vector_ops.lamb_apply_weight_assign", [input0, input1, input2, input3, input4])
    both = tf.logical_and(tf.greater(input0, 0), tf.greater(input1, 0))
    one = tf.ones_like(input0)
    ratio = tf.where(both, input0, one) / tf.where(both, input1, one)
    return tf.assign_sub(input4, ratio * input2 * input3, name=name)


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

__getattr__ = vendor.rest_of("npu_ops", "npu_bridge.estimator.npu_ops")
