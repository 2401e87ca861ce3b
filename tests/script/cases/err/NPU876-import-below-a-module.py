import npu_bridge.npu_init.npu_config_proto
import tensorflow as tf
from npu_bridge.estimator.npu.npu_config.NPURunConfig import NPURunConfig
from npu_bridge.npu_init import *
