"""User code that mypy --strict must reject, with the code of the error on each line."""

import npu_config as npu

npu.NpuConfigBuilder().set(presicion_mode="allow_mix_precision")  # call-arg
npu.NpuConfigBuilder().set(iterations_per_loop="10")  # arg-type
npu.NpuConfigBuilder().set(enable_dump=None)  # arg-type
npu.NpuConfigBuilder().set(dump_mode="ALL")  # arg-type
npu.NpuConfigBuilder().set(deterministic=2)  # arg-type
npu.NpuConfigBuilder().set(dump_step=["x"])  # list-item
npu.NpuConfigBuilder().iteration_offload("10")  # arg-type
npu.NpuConfigBuilder().data_dump("/d", mode="everything")  # arg-type
npu.NpuConfigBuilder().aoe(2)  # arg-type
npu.NpuConfigBuilder().overflow_detction("/d")  # attr-defined
npu.NpuConfig.from_dict({}).options["x"] = 1  # index
