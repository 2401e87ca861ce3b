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
npu.NpuConfigBuilder().mixed_precision("allow_mixed_precision")  # arg-type
npu.NpuConfigBuilder().mixed_precision("fp16")  # arg-type
npu.NpuConfigBuilder().precision("mixed_fp16")  # arg-type
npu.Target(product="atlas_a3x")  # arg-type
npu.Target(mode="inference")  # arg-type
npu.Target(cann=8.0)  # arg-type
npu.NpuConfigBuilder().overflow_detction("/d")  # attr-defined
npu.NpuConfig.from_dict({}).options["x"] = 1  # index
