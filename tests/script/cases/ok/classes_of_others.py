"""Classes of other packages may have the names of those of npu_bridge."""

import mylib
import tensorflow as tf
from mindspore import FixedLossScaleManager
from mylib.debug import DumpConfig, MemoryConfig
from mylib.profile import Settings as ProfilingConfig
from npu_bridge.npu_init import *

dump = DumpConfig(enabled=True, where="x")
memory = MemoryConfig(size=3)
profiling = ProfilingConfig(level=3)
other = mylib.DumpConfig(enabled=True)
another = mylib.sub.ExperimentalConfig(enabled=True)
manager = FixedLossScaleManager(0.5)
config = npu_config_proto(tf.ConfigProto())
