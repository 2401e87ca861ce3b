"""``npu_plugin``: control of the device and its memory, nearly all of it the vendor's.

Without the vendor's library the names are there, and raise when they are called.
"""

from npu_config.tf1 import vendor


@vendor.stand_in("npu_plugin")
def npu_close() -> None:
    """Give the device back at the end of the process; without one, there is nothing to do."""


__getattr__ = vendor.rest_of("npu_plugin", "npu_bridge.estimator.npu.npu_plugin")
