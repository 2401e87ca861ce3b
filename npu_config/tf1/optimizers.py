"""Optimizers that average gradients over ranks.

With several ranks they are the vendor's; with one rank there is nothing to average, and
they are the plain optimizer under another name.
"""

from __future__ import annotations

from typing import Any, List, Optional

from npu_config.tf1 import ranks, vendor
from npu_config.tf1._bases import Optimizer
from npu_config.tf1._classes import VendorFirst
from npu_config.tf1._lazy import errors, rules
from npu_config.tf1.loss_scale import GradsAndVars, apply_if_finite, scaled_gradients
from npu_config.tf1.tensorflow import tf


class _Wrapper(Optimizer):
    """An optimizer that hands everything to the one inside."""

    def __init__(self, opt: Any, name: str) -> None:
        self._optimizer = opt
        super().__init__(False, name)

    def compute_gradients(self, *args: Any, **kwargs: Any) -> GradsAndVars:
        """The gradients, as the optimizer inside computes them."""
        gradients: GradsAndVars = self._optimizer.compute_gradients(*args, **kwargs)
        return gradients

    def apply_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Apply gradients, as the optimizer inside does."""
        return self._optimizer.apply_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """A slot of the optimizer inside."""
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> List[str]:
        """The slot names of the optimizer inside."""
        return list(self._optimizer.get_slot_names(*args, **kwargs))

    def variables(self, *args: Any, **kwargs: Any) -> List[Any]:
        """The variables of the optimizer inside."""
        return list(self._optimizer.variables(*args, **kwargs))


class NPUDistributedOptimizer(_Wrapper, metaclass=VendorFirst):
    """Averages the gradients of all ranks before they are applied.

    Args:
        optimizer: the ``tf.train.Optimizer`` to wrap.
        is_weight_update_sharding: let each rank update a share of the variables.
        name: its name; None: ``Distributed`` and the type of ``optimizer``.

    Raises:
        VendorError: there are several ranks and no vendor's library.
    """

    vendor_place = ("npu_optimizer", "NPUDistributedOptimizer")

    def __init__(
        self, optimizer: Any, is_weight_update_sharding: bool = False, name: Optional[str] = None
    ) -> None:
        ranks.require_one_rank("NPUDistributedOptimizer")
        super().__init__(optimizer, name or "Distributed{}".format(type(optimizer).__name__))


class NPUOptimizer(_Wrapper, metaclass=VendorFirst):
    """Averages gradients over ranks and scales the loss, as asked.

    Args:
        opt: the ``tf.train.Optimizer`` to wrap.
        loss_scale_manager: what gives the scale, with ``is_loss_scale``.
        is_distributed: average the gradients of all ranks.
        is_loss_scale: scale the loss, and skip steps whose gradients overflow.
        is_tailing_optimization: reorder the last communication; as in the session.
        name: its name; None: ``NPUOptimizer`` and the type of ``opt``.

    Raises:
        NpuConfigError: ``is_loss_scale`` without a manager.
        VendorError: it is distributed over several ranks and there is no vendor's library.
    """

    vendor_place = ("npu_optimizer", "NPUOptimizer")

    def __init__(
        self,
        opt: Any,
        loss_scale_manager: Any = None,
        is_distributed: bool = False,
        is_loss_scale: bool = False,
        is_tailing_optimization: bool = False,
        name: Optional[str] = None,
    ) -> None:
        if is_loss_scale and loss_scale_manager is None:
            raise errors.NpuConfigError(
                [
                    rules.LOSS_SCALE.diagnostic(
                        "is_loss_scale is True and there is no loss_scale_manager",
                        help="give a FixedLossScaleManager, for instance",
                    )
                ]
            )
        if is_distributed:
            ranks.require_one_rank("NPUOptimizer")
        self._loss_scale_manager = loss_scale_manager if is_loss_scale else None
        super().__init__(opt, name or "NPUOptimizer{}".format(type(opt).__name__))

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> GradsAndVars:
        """The gradients; of the scaled loss, scaled back, with loss scaling."""
        if self._loss_scale_manager is None:
            return super().compute_gradients(loss, *args, **kwargs)
        return scaled_gradients(self._optimizer, self._loss_scale_manager, loss, *args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: GradsAndVars, global_step: Any = None, name: Optional[str] = None
    ) -> Any:
        """Apply gradients; with loss scaling, unless they overflow."""
        if self._loss_scale_manager is None:
            return super().apply_gradients(grads_and_vars, global_step, name)
        return apply_if_finite(
            self._optimizer, self._loss_scale_manager, grads_and_vars, global_step, name
        )


class KerasDistributeOptimizer(metaclass=VendorFirst):
    """Averages the gradients of a Keras optimizer over all ranks.

    With one rank and no vendor's library, it gives the Keras optimizer itself.

    Args:
        optimizer: a Keras optimizer, or its name.
        name: its name where the vendor makes it.

    Raises:
        VendorError: there are several ranks and no vendor's library.
    """

    vendor_place = ("npu_optimizer", "KerasDistributeOptimizer")

    def __new__(cls, optimizer: Any, name: str = "NpuKerasOptimizer", **kwargs: Any) -> Any:
        """The optimizer inside; several ranks raise."""
        ranks.require_one_rank("KerasDistributeOptimizer")
        return tf.keras.optimizers.get(optimizer)


@vendor.stand_in("npu_optimizer")
def npu_distributed_optimizer_wrapper(optimizer: Any) -> Any:
    """Let an optimizer average its gradients over all ranks; returns the same object.

    Args:
        optimizer: of TensorFlow or Keras, or the name of a Keras optimizer.

    Raises:
        VendorError: there are several ranks and no vendor's library.
    """
    ranks.require_one_rank("npu_distributed_optimizer_wrapper")
    return tf.keras.optimizers.get(optimizer) if isinstance(optimizer, str) else optimizer


@vendor.stand_in("npu_optimizer")
def npu_allreduce(
    values: Any,
    reduction: str = "mean",
    fusion: int = 1,
    fusion_id: int = -1,
    group: str = "hccl_world_group",
) -> Any:
    """Reduce a tensor, or each of a list of tensors, over all ranks.

    Args:
        values: a tensor, or a list or tuple of tensors.
        reduction: ``"mean"``, ``"sum"``, ``"prod"``, ``"max"`` or ``"min"``.
        fusion: how communication is merged: 0 not, 1 by gradient split, 2 by ``fusion_id``.
        fusion_id: what is merged, with ``fusion`` 2.
        group: the communication group.

    Returns:
        A tensor for a tensor, else a list.

    Raises:
        VendorError: there are several ranks and no vendor's library.
    """
    ranks.require_one_rank("npu_allreduce")
    return list(values) if isinstance(values, (list, tuple)) else values


@vendor.stand_in("npu_optimizer")
def allreduce(tensor: Any, average: Any = True, *older: Any) -> Any:
    """The sum, or the mean, of a tensor over all ranks.

    Args:
        tensor: a tensor, or IndexedSlices.
        average: True for the mean.  Until r1.2.0 a variable stood here, and the switch behind it.
        older: the switch of such a call.

    Raises:
        VendorError: there are several ranks and no vendor's library.
    """
    ranks.require_one_rank("npu_optimizer.allreduce")
    return _same(tensor)


@vendor.stand_in("npu_optimizer")
def reduce(
    tensor: Any, root_rank: int, average: bool = True, fusion: int = 0, fusion_id: int = -1
) -> Any:
    """The sum, or the mean, of a tensor over all ranks, for one of them.

    Args:
        tensor: a tensor, or IndexedSlices.
        root_rank: the rank that gets it.
        average: True for the mean.
        fusion: as for :func:`npu_allreduce`.
        fusion_id: as for :func:`npu_allreduce`.

    Raises:
        VendorError: there are several ranks and no vendor's library.
    """
    ranks.require_one_rank("npu_optimizer.reduce")
    return _same(tensor)


def _same(tensor: Any) -> Any:
    """What one rank reduces: a tensor of the same value; slices as they are."""
    return tensor if isinstance(tensor, tf.IndexedSlices) else tf.identity(tensor)


def npu_tf_optimizer(opt: Any) -> Any:
    """``NPUDistributedOptimizer(opt)``."""
    return NPUDistributedOptimizer(opt)


def npu_keras_optimizer(opt: Any) -> Any:
    """``KerasDistributeOptimizer(opt)``."""
    return KerasDistributeOptimizer(opt)
