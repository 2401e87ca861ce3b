"""Loss scaling: managers of the scale, and the optimizer that uses them.

On the NPU host these are the vendor's classes, which read the device's overflow status.
Elsewhere they extend ``tf.contrib.mixed_precision`` where it exists, and an overflow is a
gradient that is not finite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, List, Optional, Sequence, Tuple

from npu_config.tf1 import ranks
from npu_config.tf1._bases import Optimizer
from npu_config.tf1._lazy import errors, rules
from npu_config.tf1.tensorflow import package, require_graph_mode, tf
from npu_config.tf1.vendor import OPTIMIZER_MARK, VendorFirst, own_operators

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic

GradsAndVars = Sequence[Tuple[Any, Any]]

# The scale stops growing before it leaves float32 (largest number 3.4028e38).
_LARGEST_SCALE = 3.4e38


def _contrib(name: str) -> Callable[[], Optional[type]]:
    """A class of ``tf.contrib.mixed_precision``, or None where there is no contrib."""

    def look_up() -> Optional[type]:
        try:
            found: type = getattr(package().contrib.mixed_precision, name)
        except (AttributeError, ImportError):
            return None
        return found

    return look_up


def _fault(message: str, value: Any, help: Optional[str] = None) -> Diagnostic:
    return rules.loss_scale_argument.diagnostic("{}, got {!r}".format(message, value), help=help)


class FixedLossScaleManager(metaclass=VendorFirst):
    """A loss scale that stays the same.

    Args:
        loss_scale: the factor, at least 1.
        enable_overflow_check: skip a step whose gradients overflow.

    Raises:
        NpuConfigError: the factor is below 1.
        ArgumentError: it is not a number.
    """

    vendor_place = ("npu_loss_scale_manager", "FixedLossScaleManager")
    late_base = staticmethod(_contrib("FixedLossScaleManager"))

    def __init__(self, loss_scale: float, enable_overflow_check: bool = True) -> None:
        require_graph_mode("FixedLossScaleManager")
        try:
            too_small = bool(loss_scale < 1)
        except (TypeError, ValueError):
            raise errors.ArgumentError(
                [_fault("loss_scale must be a number from 1", loss_scale)]
            ) from None
        if too_small:
            raise errors.NpuConfigError([_fault("loss_scale must be at least 1", loss_scale)])
        self._enable_overflow_check = enable_overflow_check
        self._loss_scale = tf.convert_to_tensor(loss_scale, dtype=tf.float32)

    def get_loss_scale(self) -> Any:
        """The scale, a float32 tensor."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        """An operation that does nothing."""
        return tf.no_op()

    def get_enable_overflow_check(self) -> bool:
        """Whether a step whose gradients overflow is skipped."""
        return self._enable_overflow_check


class ExponentialUpdateLossScaleManager(metaclass=VendorFirst):
    """A loss scale that grows after steps without overflow and shrinks after overflows.

    It grows only while the result stays in float32, and never shrinks below 1.  A change
    resets both counts; an overflow resets the count of good steps.

    Args:
        init_loss_scale: the factor to begin with.
        incr_every_n_steps: good steps in a row before it grows.
        decr_every_n_nan_or_inf: overflows, not necessarily in a row, before it shrinks.
        incr_ratio: factor by which it grows.
        decr_ratio: factor by which it shrinks.

    Raises:
        ArgumentError: a number of steps is not an int, or a ratio is not a number.
        NpuConfigError: ``incr_ratio`` is 0.
    """

    vendor_place = ("npu_loss_scale_manager", "ExponentialUpdateLossScaleManager")
    late_base = staticmethod(_contrib("ExponentialUpdateLossScaleManager"))

    def __init__(
        self,
        init_loss_scale: Any,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ) -> None:
        require_graph_mode("ExponentialUpdateLossScaleManager")
        faults = [
            _fault("{} must be {}".format(name, what), value)
            for name, value, kind, what in (
                ("incr_every_n_steps", incr_every_n_steps, int, "an int"),
                ("decr_every_n_nan_or_inf", decr_every_n_nan_or_inf, int, "an int"),
                ("incr_ratio", incr_ratio, (int, float), "a number"),
                ("decr_ratio", decr_ratio, (int, float), "a number"),
            )
            if not isinstance(value, kind)
        ]
        if isinstance(init_loss_scale, (str, bytes, type(None))):
            faults.append(_fault("init_loss_scale must be a number", init_loss_scale))
        if faults:
            raise errors.ArgumentError(faults)
        if incr_ratio == 0:
            raise errors.NpuConfigError([_fault("incr_ratio must not be 0", incr_ratio)])
        if tf.get_default_graph()._current_control_dependencies():
            _warn_of_dependencies()
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio = incr_ratio
        self._decr_ratio = decr_ratio
        initial = tf.convert_to_tensor(init_loss_scale, tf.float32)
        self._loss_scale = tf.Variable(initial, trainable=False, name="loss_scale")
        self._num_good_steps = tf.Variable(0, trainable=False, name="good_steps", dtype=tf.int32)
        self._num_bad_steps = tf.Variable(0, trainable=False, name="bad_steps", dtype=tf.int32)

    def get_loss_scale(self) -> Any:
        """The scale, a float32 variable."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        """An operation that counts a step and changes the scale when it is time.

        Args:
            finite_grads: bool scalar tensor, True for a step without overflow.
        """
        with own_operators():
            return tf.cond(finite_grads, self._after_good_step, self._after_overflow)

    def _after_good_step(self) -> Any:
        return tf.cond(
            self._num_good_steps + 1 >= self._incr_every_n_steps,
            self._grow,
            lambda: tf.group(tf.assign_add(self._num_good_steps, 1)),
        )

    def _after_overflow(self) -> Any:
        return tf.cond(
            self._num_bad_steps + 1 >= self._decr_every_n_nan_or_inf,
            self._shrink,
            lambda: tf.group(
                tf.assign_add(self._num_bad_steps, 1), tf.assign(self._num_good_steps, 0)
            ),
        )

    def _grow(self) -> Any:
        scale = self._loss_scale
        grown = tf.cond(
            tf.less(scale, _LARGEST_SCALE / self._incr_ratio),
            lambda: scale * self._incr_ratio,
            lambda: tf.identity(scale),
        )
        return self._change(grown)

    def _shrink(self) -> Any:
        return self._change(tf.maximum(1.0, self._loss_scale * self._decr_ratio))

    def _change(self, scale: Any) -> Any:
        return tf.group(
            tf.assign(self._loss_scale, scale),
            tf.assign(self._num_good_steps, 0),
            tf.assign(self._num_bad_steps, 0),
        )


def _warn_of_dependencies() -> None:
    from npu_config.situations.precision import loss_scale_manager_under_control_dependencies
    from npu_config.tf1._lazy import warn

    text = (
        "the loss-scale manager is created under tf.control_dependencies: its variables are "
        "initialised after the operations of the block, which may need the data fed to the model"
    )
    warn(loss_scale_manager_under_control_dependencies.diagnostic(text))


def _times(gradient: Any, factor: Any) -> Any:
    if isinstance(gradient, tf.IndexedSlices):
        values = gradient.values * tf.cast(factor, gradient.values.dtype.base_dtype)
        return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return gradient * tf.cast(factor, gradient.dtype.base_dtype)


def scaled_gradients(
    opt: Any, manager: Any, loss: Any, *args: Any, mean: Any = None, **kwargs: Any
) -> GradsAndVars:
    """Gradients of the scaled loss, scaled back; ``mean`` averages them before that."""
    scale = manager.get_loss_scale()
    value = loss() if callable(loss) else loss
    scaled = value * tf.cast(scale, value.dtype.base_dtype)
    inverse = tf.math.reciprocal(scale)
    gradients = opt.compute_gradients(scaled, *args, **kwargs)
    return [
        (None if gradient is None else _times(gradient, inverse), variable)
        for gradient, variable in (gradients if mean is None else mean(gradients))
    ]


FINITE = "overflow_status_reduce_all"
"""The vendor's name of the tensor that is True for a step without overflow; scripts fetch it."""


def apply_if_finite(
    opt: Any,
    manager: Any,
    grads_and_vars: GradsAndVars,
    global_step: Any,
    name: Any,
    several: bool = False,
) -> Any:
    """Apply gradients when all are finite, in all of several ranks; update the scale anyway."""
    grads_and_vars = list(grads_and_vars)
    finite: List[Any] = []
    with own_operators():
        for gradient, _ in grads_and_vars:
            if gradient is not None:
                values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
                finite.append(tf.reduce_all(tf.math.is_finite(values)))
        all_finite = tf.reduce_all(finite, name=None if several else FINITE)
        if several:
            all_finite = _in_all_ranks(all_finite)
        setattr(all_finite.op, OPTIMIZER_MARK, opt)
        applied = tf.cond(
            all_finite, lambda: opt.apply_gradients(grads_and_vars, global_step, name), tf.no_op
        )
        return tf.group(applied, manager.update_loss_scale(all_finite))


def _in_all_ranks(finite: Any) -> Any:
    from npu_config.tf1 import hccl_ops

    lowest = hccl_ops.allreduce(tf.cast(finite, tf.int32), "min", fusion=0)
    return tf.greater(lowest, 0, name=FINITE)


class NPULossScaleOptimizer(Optimizer, metaclass=VendorFirst):
    """An optimizer that scales the loss, and skips steps whose gradients overflow.

    Attributes that it lacks are those of the optimizer inside.

    Args:
        opt: the optimizer that computes and applies the gradients.
        loss_scale_manager: what gives the scale.
        is_distributed: True when training runs on several ranks.

    Raises:
        VendorError: there are several ranks, and nothing that connects them.
    """

    vendor_place = ("npu_loss_scale_optimizer", "NPULossScaleOptimizer")
    late_base = staticmethod(_contrib("LossScaleOptimizer"))

    def __init__(self, opt: Any, loss_scale_manager: Any, is_distributed: bool = False) -> None:
        self._several = is_distributed and ranks.several("NPULossScaleOptimizer")
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager
        self._is_distributed = is_distributed

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> GradsAndVars:
        """Gradients of the scaled loss, scaled back; arguments as for ``tf.train.Optimizer``."""
        require_graph_mode("NPULossScaleOptimizer")
        return scaled_gradients(self._opt, self._loss_scale_manager, loss, *args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: GradsAndVars, global_step: Any = None, name: Optional[str] = None
    ) -> Any:
        """Apply gradients unless they overflow, and update the loss scale."""
        if not self._enable_overflow_check():
            return self._opt.apply_gradients(grads_and_vars, global_step, name)
        return apply_if_finite(
            self._opt, self._loss_scale_manager, grads_and_vars, global_step, name, self._several
        )

    def _enable_overflow_check(self) -> bool:
        manager = self._loss_scale_manager
        return not isinstance(manager, FixedLossScaleManager) or bool(
            manager.get_enable_overflow_check()
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_opt":
            raise AttributeError(name)
        return getattr(self._opt, name)
