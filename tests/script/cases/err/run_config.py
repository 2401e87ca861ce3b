import tensorflow as tf
from npu_bridge.npu_init import *
from npu_bridge.estimator.npu.npu_config import MemoryConfig


def estimator(args):
    dump = DumpConfig(enable_dump=True, dump_path="/tmp/dump", dump_step="0|5|10-3")
    profiling = ProfilingConfig(enable_profiling=True, profiling_options='{"output": "/tmp"')
    arguments = {"model_dir": args.model_dir, "mix_compile_mode": 1}
    return NPUEstimator(
        model_fn=args.model_fn,
        config=NPURunConfig(
            iterations_per_loop=0,
            dump_config=dump,
            profiling_config=profiling,
            memory_config=MemoryConfig(atomic_clean_policy=5),
            precision_mode="mixed",
            save_checkpoints_steps=10,
            save_checkpoints_secs=60,
            **arguments
        ),
    )
