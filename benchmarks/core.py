"""Import, fresh process, the list of commands, build with all rules, apply to an existing proto.

Baselines: ``import attr`` alone; the bare interpreter; the bare ``parameter_map``
assignments that a script would write by hand, on the same ConfigProto class (TensorFlow's
where it is installed, else the stub's).
"""

import time
from typing import Any, Dict, List, Tuple

import npu_config as npu
from benchmarks._measure import Row, best, processes, show
from npu_config.proto import config_proto_class

OPTIONS: Dict[str, Any] = {
    "graph_run_mode": 1,
    "deterministic": 1,
    "static_memory_policy": 2,
    "external_weight": True,
    "input_fusion_size": 25600,
    "enable_data_pre_proc": True,
    "iterations_per_loop": 10,
    "hcom_parallel": True,
    "enable_exception_dump": 2,
    "export_compile_stat": 1,
    "precision_mode_v2": "mixed_float16",
    "modify_mixlist": "ops_info.json",
    "enable_dump": True,
    "dump_path": "/home/test/dump",
    "dump_mode": "all",
    "dump_step": "0|5|10-20",
    "hccl_timeout": 1800,
    "op_wait_timeout": 120,
    "jit_compile": "auto",
    "variable_placement": "Device",
}

FRESH = """
import npu_config as npu
print(npu.NpuConfigBuilder().set(**{!r}).build().to_pbtxt())
""".format({name: OPTIONS[name] for name in list(OPTIONS)[:10]})


def bare(config_class: Any, wire: Dict[str, Tuple[str, Any]]) -> Any:
    """What a script writes by hand."""
    config = config_class()
    entry = config.graph_options.rewrite_options.custom_optimizers.add()
    entry.name = "NpuOptimizer"
    parameters = entry.parameter_map
    for name, (field, value) in wire.items():
        if field == "b":
            parameters[name].b = value
        elif field == "i":
            parameters[name].i = value
        else:
            parameters[name].s = value
    return config


def rows() -> List[Row]:
    """The rows of the budget table that concern configurations."""
    codes = ("import attr", "import npu_config", "pass", FRESH)
    attr_alone, ours, nothing, fresh, listed = processes(
        [*(["-c", code] for code in codes), ["-m", "npu_config", "--help"]]
    )
    config_class = config_proto_class()
    config = npu.NpuConfigBuilder().set(**OPTIONS).build()
    wire = {
        name: (field, value.encode() if isinstance(value, str) else value)
        for name, (field, value) in config.wire_values().items()
    }
    base = config_class(allow_soft_placement=True)
    target = npu.Target(cann="9.0.0")
    by_hand, built, for_version, applied = best(
        [
            lambda: bare(config_class, wire),
            lambda: npu.NpuConfigBuilder().set(**OPTIONS).build().to_config_proto(),
            lambda: npu.NpuConfigBuilder(target=target).set(**OPTIONS).build().to_config_proto(),
            lambda: config.to_config_proto(base),
        ],
        50,
        repeats=180,
        clock=time.process_time,
    )
    module = config_class.__module__ or ""
    name = "tf.ConfigProto" if module.startswith("tensorflow") else "the stub's ConfigProto"
    return [
        Row("import npu_config", ours * 1e3, "import attr", attr_alone * 1e3, "ms", 0.5),
        Row(
            "fresh process: 10 options to pbtxt",
            fresh * 1e3,
            "bare interpreter + 80 ms",
            nothing * 1e3 + 80,
            "ms",
            1.0,
        ),
        Row(
            "npu-config --help",
            listed * 1e3,
            "bare interpreter + 150 ms",
            nothing * 1e3 + 150,
            "ms",
            1.0,
        ),
        Row(
            "build + all rules + encode, 20 options",
            built * 1e6,
            "assignments to " + name,
            by_hand * 1e6,
            "us",
            5 if name == "tf.ConfigProto" else 8,
        ),
        Row(
            "the same for a version of CANN",
            for_version * 1e6,
            "without a version",
            built * 1e6,
            "us",
            1.1,
        ),
        Row(
            "to_config_proto on an existing proto",
            applied * 1e6,
            "assignments to " + name,
            by_hand * 1e6,
            "us",
            5,
        ),
    ]


if __name__ == "__main__":
    show(rows())
