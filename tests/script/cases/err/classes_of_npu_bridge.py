import tensorflow as tf
from npu_bridge.estimator.npu import npu_config
from npu_bridge.estimator.npu.npu_config import DumpConfig, MemoryConfig

dump = DumpConfig(enabled=True)
memory = MemoryConfig(size=3)
other = npu_config.ProfilingConfig(level=3)
