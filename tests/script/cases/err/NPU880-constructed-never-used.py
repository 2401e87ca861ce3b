import tensorflow as tf
from npu_bridge.npu_init import *
from npu_bridge.estimator.npu.npu_config import ExperimentalConfig


def build_estimator(model_fn, flags):
    dump_config = DumpConfig(enable_dump=True, dump_path=flags.dump_path, dump_mode="all")
    profiling_config = ProfilingConfig(enable_profiling=True)
    run_config = NPURunConfig(
        # dump_config=dump_config,
        profiling_config=profiling_config,
        model_dir=flags.model_dir,
    )
    return NPUEstimator(model_fn=model_fn, config=run_config)


class Trainer:
    def __init__(self, flags):
        if flags.memory:
            memory_config = MemoryConfig(static_memory_policy=flags.memory)
        ExperimentalConfig(logical_device_id=0)
        run_config = NPURunConfig(enable_data_pre_proc=False)
        self.session = tf.Session()


if __name__ == "__main__":
    dynamic_input = DynamicInputConfig("data:1,-1", "1;2", 0, "")
    Trainer(flags)
