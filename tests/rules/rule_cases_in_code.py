"""Wrong and right settings of the rules that config files cannot break.

They stand around the options (a ConfigProto), in its fields (the wire), or beside them
(arguments of NPURunConfig).
"""

from npu_config.core.settings import SessionFacts, Setting, Settings, SourceKind
from npu_config.core.target import Target

GOOD = SessionFacts(("NpuOptimizer",), "OFF", "NO_MEM_OPT", "OFF", True)


def proto(session=GOOD, **entries):
    """Settings of a ConfigProto; an entry is (value, wire)."""
    return Settings(
        {name: Setting(*entry) for name, entry in entries.items()},
        SourceKind.PROTO,
        session=session,
    )


def around(**changes):
    """A ConfigProto that differs from a good one in these facts."""
    names = ("optimizers", "remapping", "memory_optimization", "global_jit_level")
    values = {name: getattr(GOOD, name) for name in (*names, "allow_soft_placement")}
    values.update(changes)
    return proto(SessionFacts(**values))


def run_config(options=(), session=None, **extra):
    """Settings of NPURunConfig; names of nested arguments are written with ``__``."""
    return Settings(
        {name: Setting(value) for name, value in dict(options).items()},
        SourceKind.RUN_CONFIG,
        session=session,
        extra={name.replace("__", "."): Setting(value) for name, value in extra.items()},
    )


class DumpConfig:
    """Stands for the class of this name."""


class ParameterServerStrategy:
    """Stands for the class of this name."""


LOOP = {"iterations_per_loop": 10}
SHAPES = {"input_shape": "data:1,-1", "dynamic_dims": "1;2", "dynamic_node_type": 1}
INFERENCE = {"graph_run_mode": 0}
CLUSTER = {"TF_CONFIG": '{"cluster": {"ps": ["a:1"], "worker": ["b:1"]}}'}

OLD = Target(cann="5.0.2")


def with_file(needed, path="/nowhere/ops_info.json"):
    """Settings of a builder that carries the content of a file."""
    entries = {"modify_mixlist": Setting(path, content="{}")}
    entries["precision_mode"] = Setting("allow_mix_precision")
    return Settings(entries, needs_files=needed)


CASES = {
    "NPU8011": (
        [(with_file(True), None)],
        [(with_file(False), None), (with_file(True, __file__), None)],
    ),
    "NPU114": (
        [
            (run_config(deterministic=1), None, OLD),
            (run_config({"deterministic": 1}), None, OLD),
            (run_config(memory_config__static_memory_policy=None), None, OLD),
            (run_config(mstune_mode="1"), None, Target(cann="9.0.0")),
        ],
        [
            (run_config(deterministic=1), None),
            (run_config(iterations_per_loop=1, aoe_mode=None), None, OLD),
            (run_config(mstune_mode="1"), None, Target(adapter="r1.3.0")),
            (proto(hccl_timeout=(1836, "i")), None, Target(adapter="r1.7.0")),
        ],
    ),
    "NPU102": (
        [
            (proto(iterations_per_loop=(True, "b")), None),
            (proto(iterations_per_loop=(None, "")), None),
            (proto(jit_compile=(True, "b")), None),
            (proto(precision_mode=(1.0, "f")), None),
        ],
        [(proto(deterministic=(1, "i")), None)],
    ),
    "NPU564": (
        [(run_config({"compress_weight_conf": "compress.cfg"}), None)],
        [(run_config({"enable_compress_weight": True}), None)],
    ),
    "NPU801": (
        [
            (around(optimizers=("NPUOptimizer",)), None),
            (around(optimizers=("Npuoptimizer", "Other")), None),
            (around(optimizers=()), None),
        ],
        [(around(optimizers=("Other", "NpuOptimizer")), None)],
    ),
    "NPU802": (
        [(around(optimizers=("NpuOptimizer", "NpuOptimizer")), None)],
        [(around(optimizers=("NpuOptimizer", "GradFusionOptimizer")), None)],
    ),
    "NPU803": (
        [(around(remapping="DEFAULT"), None), (around(remapping="ON"), None)],
        [(around(remapping="OFF"), None)],
    ),
    "NPU804": (
        [
            (around(memory_optimization="MANUAL"), None),
            (around(memory_optimization="DEFAULT_MEM_OPT"), None),
        ],
        [(around(memory_optimization="NO_MEM_OPT"), None)],
    ),
    "NPU805": (
        [(around(global_jit_level="ON_1"), None), (around(global_jit_level="DEFAULT"), None)],
        [(around(global_jit_level="OFF"), None)],
    ),
    "NPU806": (
        [(around(allow_soft_placement=False), None)],
        [(around(allow_soft_placement=True), None)],
    ),
    "NPU810": (
        [(run_config(save_checkpoints_steps=100, save_checkpoints_secs=600), None)],
        [(run_config(save_checkpoints_steps=100, save_checkpoints_secs=None), None)],
    ),
    "NPU811": (
        [
            (run_config(LOOP, save_checkpoints_steps=25), None),
            (run_config(LOOP, save_checkpoints_steps=5), None),
            (
                run_config(
                    {"iterations_per_loop": 30},
                    save_checkpoints_steps=None,
                    save_checkpoints_secs=None,
                ),
                None,
            ),
        ],
        [
            (run_config(LOOP, save_checkpoints_steps=30), None),
            (run_config(LOOP, save_checkpoints_steps=0), None),
        ],
    ),
    "NPU812": (
        [(run_config(LOOP, save_summary_steps=5), None)],
        [(run_config(LOOP, save_summary_steps=0), None), (run_config(save_summary_steps=5), None)],
    ),
    "NPU813": (
        [(run_config(LOOP, log_step_count_steps=25), None)],
        [(run_config(LOOP, log_step_count_steps=50), None)],
    ),
    "NPU814": (
        [
            (run_config(save_checkpoints_secs=600), {"RANK_SIZE": "8"}),
            (run_config(save_checkpoints_secs=600), {"CM_WORKER_SIZE": "2"}),
        ],
        [
            (run_config(save_checkpoints_steps=600), {"RANK_SIZE": "8"}),
            (run_config(save_checkpoints_secs=600), {"RANK_SIZE": "1"}),
        ],
    ),
    "NPU815": (
        [
            (run_config(train_distribute=object()), None),
            (run_config(eval_distribute=object()), None),
        ],
        [(run_config(train_distribute=None, eval_distribute=None), None)],
    ),
    "NPU816": (
        [
            (run_config(dump_config={"enable_dump": True}), None),
            (run_config(experimental_config=DumpConfig()), None),
            (run_config(memory_config={"static_memory_policy": 2}), None),
            (run_config(profiling_config=DumpConfig()), None),
            (run_config(session_config="config.pbtxt"), None),
        ],
        [(run_config(dump_config=DumpConfig(), experimental_config=None), None)],
    ),
    "NPU817": (
        [(run_config(horovod_mode=1), None), (run_config(horovod_mode=None), None)],
        [(run_config(horovod_mode=True), None)],
    ),
    "NPU818": (
        [
            (run_config(dict(SHAPES, **INFERENCE)), None),
            (run_config(dict(INFERENCE, compile_hybrid_mode=1)), None),
        ],
        [(run_config(dict(SHAPES, compile_hybrid_mode=0, **INFERENCE)), None)],
    ),
    "NPU819": (
        [
            (
                run_config(
                    {
                        "enable_dump_debug": True,
                        "dump_path": "/tmp",
                        "dump_debug_mode": "all",
                    },
                    dump_config__dump_mode=None,
                ),
                None,
            )
        ],
        [
            (
                run_config(
                    {"enable_dump_debug": True, "dump_path": "/tmp", "dump_debug_mode": "all"}
                ),
                None,
            )
        ],
    ),
    "NPU820": (
        [(run_config(session=GOOD), None)],
        [(run_config(session=SessionFacts((), "OFF", "NO_MEM_OPT", "OFF", True)), None)],
    ),
    "NPU821": (
        [(run_config({"graph_exec_timeout": 600000}), None)],
        [
            (run_config({"op_execute_timeout": 600}), None),
            (
                run_config()._replace(entries={"graph_exec_timeout": Setting(600000, "i")}),
                None,
            ),
        ],
    ),
    "NPU822": (
        [(run_config(model_dir="/a", estimator__model_dir="/b"), None)],
        [
            (run_config(model_dir="/a", estimator__model_dir="/a"), None),
            (run_config(model_dir=None, estimator__model_dir="/a"), None),
        ],
    ),
    "NPU823": (
        [(run_config(save_checkpoints_steps=None, save_checkpoints_secs=None), None)],
        [(run_config(save_checkpoints_steps=0, save_checkpoints_secs=None), None)],
    ),
    "NPU824": (
        [
            (run_config({"mix_compile_mode": True}, distribute=None), CLUSTER),
            (run_config(distribute=ParameterServerStrategy()), {}),
        ],
        [
            (
                run_config({"mix_compile_mode": True}, distribute=ParameterServerStrategy()),
                CLUSTER,
            ),
            (run_config(distribute=None), {}),
        ],
    ),
}
