"""npu_config: typed, validated session configuration for TensorFlow on Huawei Ascend NPUs."""

__version__ = "0.1.0"
