"""``npu_strategy``: the distribution strategy of the vendor."""

from __future__ import annotations

from typing import Any

from npu_config.tf1 import ranks, vendor
from npu_config.tf1._classes import VendorFirst
from npu_config.tf1._lazy import errors, rules
from npu_config.tf1.tensorflow import tf


class NPUStrategy(metaclass=VendorFirst):
    """One device per process, as many replicas as there are ranks.

    With one rank and no vendor's library, it gives ``tf.distribute.OneDeviceStrategy``.

    Args:
        device: ``"/cpu:0"``, the host that feeds the device.

    Raises:
        NpuConfigError: another device.
        VendorError: there are several ranks and no vendor's library.
    """

    vendor_place = ("npu_strategy", "NPUStrategy")

    def __new__(cls, device: str = "/cpu:0") -> Any:
        """The strategy of one device; several ranks raise."""
        if device != "/cpu:0":
            raise errors.NpuConfigError(
                [
                    rules.UTIL_ARGUMENT.diagnostic(
                        'the device of NPUStrategy must be "/cpu:0", got {!r}'.format(device)
                    )
                ]
            )
        ranks.require_one_rank("NPUStrategy")
        return tf.distribute.OneDeviceStrategy(device)


__getattr__ = vendor.names_of("npu_strategy")
