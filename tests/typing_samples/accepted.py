"""User code that mypy --strict must accept."""

import json
from collections.abc import Mapping
from typing import Any

import npu_config as npu
from npu_config import rulebook

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

mapping: Mapping[str, Any] = config
plain: dict[str, Any] = dict(config)
written = npu.NpuConfig({"hccl_timeout": 1800, "dump_step": [0, (5, 8)]})
copy = npu.NpuConfig.from_dict(config, npu.Target("atlas_a2"))
found: dict[str, Any] = json.loads("{}")
read = npu.NpuConfig.from_dict(found).evolve(hccl_timeout=None, jit_compile="auto", **found)
profiled = npu.NpuConfigBuilder().profiling("/p", training_trace=True, task_time="l1", l2="on")
profiled.update(found).update(plain).update(config).update(profiled)
kept = npu.presets.profiling(None, sys_cpu_freq=50, storage_limit="500MB", hccl=False)
ids: list[str] = [rule.id for rule in npu.RULES + rulebook.RULES]
