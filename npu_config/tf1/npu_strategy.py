"""``npu_strategy``: the distribution strategy of the vendor."""

from __future__ import annotations

from typing import Any

from npu_config.tf1 import ranks, vendor
from npu_config.tf1._lazy import rules
from npu_config.tf1.tensorflow import tf
from npu_config.tf1.vendor import VendorFirst


def _of_ranks(base: Any) -> Any:
    """The part of a strategy that does the work, for one of several ranks."""
    size, rank = ranks.rank_size(), ranks.rank_id()

    def distribute(self: Any, dataset: Any, *options: Any) -> Any:
        return base._experimental_distribute_dataset(self, dataset.shard(size, rank), *options)

    names = {
        "_num_replicas_in_sync": property(lambda self: size),
        "_experimental_distribute_dataset": distribute,
    }
    return type("NPUExtended", (base,), names)


class NPUStrategy(metaclass=VendorFirst):
    """One device per process, as many replicas as there are ranks.

    Without the vendor's library it gives ``tf.distribute.OneDeviceStrategy``; with several
    ranks its replicas are counted over all, and its data sets are cut into their shares.

    Args:
        device: ``"/cpu:0"``, the host that feeds the device.

    Raises:
        NpuConfigError: another device.
        VendorError: there are several ranks, and nothing that connects them.
    """

    vendor_place = ("npu_strategy", "NPUStrategy")

    def __new__(cls, device: str = "/cpu:0") -> Any:
        """The strategy of one device, which knows of the other ranks."""
        if device != "/cpu:0":
            raise rules.util_argument.error(
                'the device of NPUStrategy must be "/cpu:0", got {!r}'.format(device)
            )
        strategy = tf.distribute.OneDeviceStrategy(device)
        if ranks.several("NPUStrategy"):
            extended = strategy.extended
            extended.__class__ = _of_ranks(type(extended))
        return strategy


__getattr__ = vendor.rest_of("npu_strategy", "npu_bridge.estimator.npu.npu_strategy")
