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
npu.NpuConfig({"precision_modee": 1})  # typeddict-unknown-key
npu.NpuConfig({"hccl_timeout": "1800"})  # typeddict-item
npu.NpuConfig({}).evolve(hccl_timeot=1800)  # call-arg
npu.NpuConfig({}).evolve(hccl_timeout="x")  # arg-type
npu.NpuConfig({}).to_run_config(model_dirr="/m")  # call-arg
npu.NpuConfigBuilder().profiling(training_trac=True)  # call-arg
npu.NpuConfigBuilder().profiling("/p", task_time="l9")  # arg-type
npu.presets.profiling(training_trac=True)  # call-arg
npu.sidefiles.profiling.ProfilingOptions.of(training_trac=True)  # call-arg
npu.NpuConfigBuilder().dump("/d")  # attr-defined
npu.NpuConfig({}).to_confg_proto()  # attr-defined
npu.presets.deterministic().aply()  # attr-defined
npu.RULES[0].sevrity()  # attr-defined
npu.NpuConfgBuilder()  # attr-defined
npu.preset()  # attr-defined
npu.presets.dump("/d")  # attr-defined
npu.sidefiles.mixlst()  # attr-defined
npu.cluster.tabel_job()  # attr-defined
npu.tf1.NPUEstimater()  # attr-defined
npu.dumps.read_dumps()  # attr-defined
