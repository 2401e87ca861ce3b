"""A later precision policy takes the earlier one away, in whichever vocabulary it is."""

from npu_config import NpuConfigBuilder

builder = NpuConfigBuilder().precision("mixed_float16")
config = builder.precision("allow_mix_precision").build()
print(config.to_config_proto())
