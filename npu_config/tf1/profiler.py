"""``profiler``: profiling of the device, all of it the vendor's.

Without the vendor's library the names are there, and raise when they are called.
"""

from npu_config.tf1 import vendor

__getattr__ = vendor.names_of("profiler")
