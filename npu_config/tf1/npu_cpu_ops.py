"""``npu_cpu_ops``: operators that run on the device's CPU, all of it the vendor's.

Without the vendor's library the names are there, and raise when they are called.
"""

from npu_config.tf1 import vendor

__getattr__ = vendor.rest_of("npu_cpu_ops", "npu_bridge.npu_cpu.npu_cpu_ops")
