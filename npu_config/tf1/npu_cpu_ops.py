"""``npu_cpu_ops``: operators that run on the device's CPU; two of them can be done without.

Without the vendor's library the other names are there, and raise when they are called.
"""

from npu_config.tf1 import vendor
from npu_config.tf1.experimental import dense_image_warp, randomchoicewithmask

__all__ = ("dense_image_warp", "randomchoicewithmask")

__getattr__ = vendor.rest_of("npu_cpu_ops", "npu_bridge.npu_cpu.npu_cpu_ops")
