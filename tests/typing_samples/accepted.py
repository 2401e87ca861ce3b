"""User code that mypy --strict must accept."""

import npu_config as npu

config = (
    npu.NpuConfigBuilder(target=npu.Target(product="atlas_a2"))
    .mixed_precision(
        "allow_mix_precision", black_list=["ReduceSumD"], mixlist_path="ops_info.json"
    )
    .iteration_offload(10)
    .overflow_detection("/home/test/output")
    .set(hccl_timeout=1800, op_wait_timeout=120, dump_step=[0, 5, (10, 20)], jit_compile="auto")
    .build()
)
options: dict[str, "bool | int | str"] = config.to_dict()
target = npu.Target(product=npu.Product("Atlas 800T A2"), mode="training", cann="8.0.RC1")
report = npu.check({"deterministic": 1}, target=target)
for diagnostic in report.errors:
    print(diagnostic.rule, diagnostic.line, diagnostic.severity is npu.Severity.ERROR)
