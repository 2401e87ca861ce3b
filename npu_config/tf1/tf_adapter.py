"""``tf_adapter``: the numbers of data types; the functions of the adapter's library are its own.

Without the vendor's library the functions are there, and raise when they are called.
"""

from npu_config.tf1 import vendor

DT_FLOAT = 0
DT_FLOAT16 = 1
DT_INT8 = 2
DT_INT32 = 3
DT_UINT8 = 4
DT_INT16 = 6
DT_UINT16 = 7
DT_UINT32 = 8
DT_INT64 = 9
DT_UINT64 = 10
DT_DOUBLE = 11
DT_BOOL = 12
DT_STRING = 13
DT_COMPLEX64 = 16
DT_COMPLEX128 = 17

__getattr__ = vendor.rest_of("tf_adapter", "npu_bridge.tf_adapter")
