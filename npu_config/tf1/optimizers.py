"""Optimizers that average gradients over ranks.

On the NPU host they are the vendor's.  Elsewhere the ranks of ``npu-config run --ranks``
average; with one rank there is nothing to average, and they are the plain optimizer under
another name.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Sequence

from npu_config.tf1 import collectives, hccl, hccl_ops, ranks, vendor
from npu_config.tf1._bases import Optimizer
from npu_config.tf1._lazy import rules
from npu_config.tf1.loss_scale import GradsAndVars, apply_if_finite, scaled_gradients
from npu_config.tf1.tensorflow import tf
from npu_config.tf1.vendor import VendorFirst

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Place

wrapped: List[Place] = []
"""Where the script lets an optimizer average its gradients over several ranks."""


def _note_wrapped() -> None:
    from npu_config.core.calls import script_place

    wrapped.append(script_place())


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
        NpuConfigError: shares for more ranks than there are gradients, or no ``DEVICE_ID``.
        VendorError: there are several ranks, and nothing that connects them.
    """

    vendor_place = ("npu_optimizer", "NPUDistributedOptimizer")

    def __init__(
        self, optimizer: Any, is_weight_update_sharding: bool = False, name: Optional[str] = None
    ) -> None:
        if ranks.several("NPUDistributedOptimizer"):
            _note_wrapped()
        self._shares = is_weight_update_sharding
        super().__init__(optimizer, name or "Distributed{}".format(type(optimizer).__name__))

    def compute_gradients(self, *args: Any, **kwargs: Any) -> GradsAndVars:
        """The gradients, averaged over all ranks.

        Shares of the update give the same weights; off the device each rank updates all.
        """
        gradients = super().compute_gradients(*args, **kwargs)
        if not ranks.several("NPUDistributedOptimizer"):
            return gradients
        if self._shares:
            _check_shares(len([each for each, _ in gradients if each is not None]))
        return _averaged(gradients, self.get_name())


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
        VendorError: it is distributed over several ranks, and nothing connects them.
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
            raise rules.loss_scale_argument.error(
                "is_loss_scale is True, but loss_scale_manager is not set",
                help="pass a loss_scale_manager, for example a FixedLossScaleManager",
            )
        self._is_distributed = is_distributed and ranks.several("NPUOptimizer")
        if self._is_distributed:
            _note_wrapped()
        self._loss_scale_manager = loss_scale_manager if is_loss_scale else None
        super().__init__(opt, name or "NPUOptimizer{}".format(type(opt).__name__))

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> GradsAndVars:
        """The gradients, averaged if asked; of the scaled loss, scaled back, with loss scaling."""
        if self._loss_scale_manager is None:
            return self._mean(super().compute_gradients(loss, *args, **kwargs))
        return scaled_gradients(
            self._optimizer, self._loss_scale_manager, loss, *args, mean=self._mean, **kwargs
        )

    def _mean(self, gradients: GradsAndVars) -> GradsAndVars:
        return _averaged(gradients, self.get_name()) if self._is_distributed else gradients

    def apply_gradients(
        self, grads_and_vars: GradsAndVars, global_step: Any = None, name: Optional[str] = None
    ) -> Any:
        """Apply gradients; with loss scaling, unless they overflow."""
        if self._loss_scale_manager is None:
            return super().apply_gradients(grads_and_vars, global_step, name)
        return apply_if_finite(
            self._optimizer,
            self._loss_scale_manager,
            grads_and_vars,
            global_step,
            name,
            self._is_distributed,
        )


class KerasDistributeOptimizer(metaclass=VendorFirst):
    """Averages the gradients of a Keras optimizer over all ranks.

    Without the vendor's library it gives the Keras optimizer itself, which averages then.

    Args:
        optimizer: a Keras optimizer, or its name.
        name: its name where the vendor makes it.

    Raises:
        VendorError: there are several ranks, and nothing that connects them.
    """

    vendor_place = ("npu_optimizer", "KerasDistributeOptimizer")

    def __new__(cls, optimizer: Any, name: str = "NpuKerasOptimizer", **kwargs: Any) -> Any:
        """The optimizer inside; with several ranks its gradients are averaged."""
        return npu_distributed_optimizer_wrapper(tf.keras.optimizers.get(optimizer))


@vendor.stand_in("npu_optimizer")
def npu_distributed_optimizer_wrapper(optimizer: Any) -> Any:
    """Let an optimizer average its gradients over all ranks; returns the same object.

    Args:
        optimizer: of TensorFlow or Keras, or the name of a Keras optimizer.

    Raises:
        VendorError: there are several ranks, and nothing that connects them.
    """
    several = ranks.several("npu_distributed_optimizer_wrapper")
    found = tf.keras.optimizers.get(optimizer) if isinstance(optimizer, str) else optimizer
    if not several:
        return found

    _note_wrapped()
    return let_average(found)


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
        VendorError: there are several ranks, and nothing that connects them.
    """
    hccl_ops.check_reduction("npu_allreduce", reduction, ("mean", *hccl_ops.REDUCTIONS))
    listed = list(values) if isinstance(values, (list, tuple)) else [values]
    if any(each is None for each in listed):
        hccl.refuse("npu_allreduce: None is not a tensor")
    if ranks.several("npu_allreduce"):
        listed = reduced(listed, reduction, group)
    return listed if isinstance(values, (list, tuple)) else listed[0]


@vendor.stand_in("npu_optimizer")
def allreduce(tensor: Any, average: Any = True, *older: Any) -> Any:
    """The sum, or the mean, of a tensor over all ranks.

    Args:
        tensor: a tensor, or IndexedSlices.
        average: True for the mean.  Until r1.2.0 a variable stood here, and the switch behind it.
        older: the switch of such a call.

    Raises:
        VendorError: there are several ranks, and nothing that connects them.
    """
    if not ranks.several("npu_optimizer.allreduce"):
        return _same(tensor)

    if older or not isinstance(average, bool):  # (tensor, var, average=True)
        average = older[0] if older else True
    return reduced([tensor], "mean" if average else "sum", hccl.WORLD)[0]


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
        VendorError: there are several ranks, and nothing that connects them.
    """
    if not ranks.several("npu_optimizer.reduce"):
        return _same(tensor)

    if isinstance(tensor, tf.IndexedSlices):
        return reduced([tensor], "mean" if average else "sum", hccl.WORLD)[0]
    total = hccl_ops.reduce(tensor, "sum", root_rank, fusion, fusion_id)
    mine = average and ranks.rank_id() == root_rank
    return divided(total, ranks.rank_size()) if mine else total


def _averaged(gradients: GradsAndVars, name: str) -> GradsAndVars:
    """Gradients with their variables, averaged over all ranks."""

    values = averaged([each for each, _ in gradients], name + "_Allreduce")
    return [(value, variable) for value, (_, variable) in zip(values, gradients)]


def _check_shares(count: int) -> None:
    """Refuse shares of the update that the device could not give to each rank."""
    if not os.environ.get("DEVICE_ID", "").isdecimal():
        hccl.refuse("is_weight_update_sharding needs DEVICE_ID, the device of this rank")
    if ranks.rank_size() > count:
        hccl.refuse(
            "is_weight_update_sharding needs a gradient for each rank: there are {} ranks and {} "
            "gradients".format(ranks.rank_size(), count)
        )


def _same(tensor: Any) -> Any:
    """What one rank reduces: a tensor of the same value; slices as they are."""
    return tensor if isinstance(tensor, tf.IndexedSlices) else tf.identity(tensor)


def npu_tf_optimizer(opt: Any) -> Any:
    """``NPUDistributedOptimizer(opt)``."""
    return NPUDistributedOptimizer(opt)


def npu_keras_optimizer(opt: Any) -> Any:
    """``KerasDistributeOptimizer(opt)``."""
    return KerasDistributeOptimizer(opt)


def averaged(values: Sequence[Any], scope: Optional[str] = None) -> List[Any]:
    """The mean of each tensor over all ranks; None stays None.

    Args:
        values: tensors, IndexedSlices, None.
        scope: the name scope of the operations.
    """
    return reduced(values, "mean", hccl.WORLD, scope)


def reduced(
    values: Sequence[Any], reduction: str, group: str, scope: Optional[str] = None
) -> List[Any]:
    """Each tensor reduced over the ranks of a group.

    Slices are gathered: their values, divided for a mean, and their indices.

    Args:
        values: tensors, IndexedSlices, None.
        reduction: ``"mean"``, ``"sum"``, ``"prod"``, ``"max"`` or ``"min"``.
        group: the group.
        scope: the name scope of the operations.
    """
    members = collectives.members("allreduce", group)
    mean = reduction == "mean"
    with tf.name_scope(scope, "Allreduce"):
        found = list(values)
        dense = [
            place
            for place, value in enumerate(values)
            if value is not None and not isinstance(value, tf.IndexedSlices)
        ]
        if dense:
            given = [hccl_ops.reducible("allreduce", values[place]) for place in dense]
            sums = collectives.allreduce(given, "sum" if mean else reduction, members)
            for place, total in zip(dense, sums):
                found[place] = divided(total, len(members)) if mean else total
        for place, value in enumerate(values):
            if isinstance(value, tf.IndexedSlices):
                given = [value.values, value.indices]
                parts, indices = collectives.allgather(given, members)
                if mean:
                    parts = divided(parts, len(members))
                found[place] = tf.IndexedSlices(parts, indices, value.dense_shape)
    return found


def divided(tensor: Any, count: int) -> Any:
    """A tensor divided by a number; integers are rounded down."""
    if tensor.dtype.is_floating:
        return tensor / tf.cast(count, tensor.dtype)
    return tensor // tf.cast(count, tensor.dtype)


def let_average(optimizer: Any) -> Any:
    """Let an optimizer of TensorFlow or Keras average its gradients; returns the same object."""
    for name, scope, pairs in _METHODS:
        method = getattr(optimizer, name, None)
        if method is not None:
            setattr(optimizer, name, _averaging(method, scope, pairs))
    return optimizer


_METHODS = (
    ("compute_gradients", "Npu_Distributed_optimizer_Allreduce", True),
    ("get_gradients", "Npu_Distributed_optimizer_get_grads_Allreduce", False),
    ("_compute_gradients", "Npu_Distributed_optimizer_compute_grads_Allreduce", True),
)
"""What optimizers compute gradients with: the scope, and whether variables come with them."""


def _averaging(method: Callable[..., Any], scope: str, pairs: bool) -> Callable[..., Any]:
    def compute(*args: Any, **kwargs: Any) -> Any:
        found = method(*args, **kwargs)
        if not pairs:
            return averaged(found, scope)
        gradients, variables = zip(*found)
        return list(zip(averaged(gradients, scope), variables))

    return compute
