"""``npu_ops``: the vendor's operators; what can be done without a device is done without."""

from __future__ import annotations

from typing import Any, Optional

from npu_config.tf1 import vendor
from npu_config.tf1._lazy import errors, rules
from npu_config.tf1.tensorflow import require_graph_mode, tf


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
        NpuConfigError: ``x`` is no float tensor, or ``keep_prob`` is out of range.
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


__getattr__ = vendor.names_of("npu_ops")
