"""Gradients averaged over the ranks of a job: dense ones together, sparse ones by gathering."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence

from npu_config.tf1 import collectives, hccl, hccl_ops
from npu_config.tf1.tensorflow import tf


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
