"""``npu_unary_ops``: the operators of the adapter's library, those that a CPU can compute.

``npu_unary_ops.npu_unary_ops``, as ``helper.get_gen_ops()`` and the others of that kind, is the
vendor's one object with every operator; it is this module here.  What is not below is there by
name, and raises when it is called.
"""

from __future__ import annotations

import sys
from typing import Any, Optional

from npu_config.tf1 import vendor
from npu_config.tf1.tensorflow import tf

_SLOPE = 1.5957691216057308  # 2 * sqrt(2 / pi)
_CUBE = 0.044715
_FAST = 1.702


def _wide(x: Any) -> Any:
    """A tensor in the type that the device computes in; float16 is computed in float32."""
    x = tf.convert_to_tensor(x)
    return tf.cast(x, tf.float32) if x.dtype in (tf.float16, tf.bfloat16) else x


@vendor.stand_in("npu_unary_ops")
def gelu(features: Any, name: Optional[str] = None) -> Any:
    """The Gaussian error linear unit, in its tanh form, which is that of the device.

    Args:
        features: a tensor of floats.
        name: name of the operation.
    """
    with tf.name_scope(name, "Gelu", [features]) as scope:
        features = tf.convert_to_tensor(features)
        x = _wide(features)
        y = x * tf.sigmoid(_SLOPE * (x + _CUBE * x * x * x))
        return tf.cast(y, features.dtype, name=scope)


@vendor.stand_in("npu_unary_ops")
def gelu_grad(gradients: Any, features: Any, activations: Any, name: Optional[str] = None) -> Any:
    """The gradient of :func:`gelu`; ``activations`` are not used."""
    x = _wide(features)
    s = tf.sigmoid(_SLOPE * (x + _CUBE * x * x * x))
    slope = s + x * s * (1 - s) * _SLOPE * (1 + 3 * _CUBE * x * x)
    return tf.multiply(gradients, tf.cast(slope, tf.convert_to_tensor(features).dtype), name=name)


@vendor.stand_in("npu_unary_ops")
def fast_gelu(features: Any, name: Optional[str] = None) -> Any:
    """x * sigmoid(1.702 x)."""
    x = _wide(features)
    return tf.cast(x * tf.sigmoid(_FAST * x), tf.convert_to_tensor(features).dtype, name=name)


@vendor.stand_in("npu_unary_ops")
def fast_gelu_grad(gradients: Any, features: Any, name: Optional[str] = None) -> Any:
    """The gradient of :func:`fast_gelu`."""
    x = _wide(features)
    s = tf.sigmoid(_FAST * x)
    slope = tf.cast(s * (1 + _FAST * x * (1 - s)), tf.convert_to_tensor(features).dtype)
    return tf.multiply(gradients, slope, name=name)


@vendor.stand_in("npu_unary_ops")
def npu_get_float_status_v2(name: Optional[str] = None) -> Any:
    """The overflow status of the device, int32 [8]; zeros without one."""
    return tf.zeros([8], tf.int32, name=name)


@vendor.stand_in("npu_unary_ops")
def npu_clear_float_status_v2(name: Optional[str] = None) -> Any:
    """Clears the overflow status; without a device, an operation without effect."""
    return tf.no_op(name=name)


@vendor.stand_in("npu_unary_ops")
def npu_alloc_float_status(name: Optional[str] = None) -> Any:
    """The overflow status, in its older form: float32 [8]; zeros without a device."""
    return tf.zeros([8], tf.float32, name=name)


@vendor.stand_in("npu_unary_ops")
def npu_get_float_status(input_float: Any, name: Optional[str] = None) -> Any:
    """Reads the older overflow status; zeros without a device."""
    return tf.zeros_like(input_float, tf.float32, name=name)


@vendor.stand_in("npu_unary_ops")
def npu_clear_float_status(input_float: Any, name: Optional[str] = None) -> Any:
    """Clears the older overflow status; zeros without a device."""
    return tf.zeros_like(input_float, tf.float32, name=name)


@vendor.stand_in("npu_unary_ops")
def log_time_stamp(logid: Any, notify: Any, name: Optional[str] = None) -> Any:
    """A mark of the profiler; without a device, an operation without effect."""
    return tf.no_op(name=name)


npu_unary_ops = sys.modules[__name__]

__getattr__ = vendor.rest_of("npu_unary_ops")
