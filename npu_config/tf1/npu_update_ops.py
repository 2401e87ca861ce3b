"""The operators of the adapter that compute updates of variables, with ordinary operations."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

from npu_config.tf1 import vendor
from npu_config.tf1.operands import alike, operand
from npu_config.tf1.tensorflow import require_graph_mode, tf


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
            "LARS takes as many gradients as weights, got {} and {}".format(
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


__getattr__ = vendor.names_of("tbe.npu_vector_ops", "npu_bridge.tbe.npu_vector_ops")
