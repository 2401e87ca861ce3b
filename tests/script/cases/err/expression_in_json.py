import tensorflow as tf
from npu_bridge.npu_init import *


def run_config(args):
    options = '{"output": args.profiling_path, "task_trace": on}'
    profiling = ProfilingConfig(enable_profiling=True, profiling_options=options)
    return NPURunConfig(profiling_config=profiling)


estimator = NPUEstimator(model_fn, config=run_config(args))
