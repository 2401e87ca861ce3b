"""Configurations of npu_bridge that something reads, or may read, or that ask for nothing."""

from npu_bridge.npu_init import *



def returned():
    dump_config = DumpConfig(enable_dump=True, dump_path="/tmp")
    return dump_config


def in_a_dictionary(flags):
    dump_config = DumpConfig(enable_dump=True, dump_path="/tmp")
    arguments = {"dump_config": dump_config}
    return NPURunConfig(**arguments)


def in_a_closure():
    dump_config = DumpConfig(enable_dump=True, dump_path="/tmp")
    return lambda: NPURunConfig(dump_config=dump_config)


def by_a_condition(rank):
    dump_config = DumpConfig(enable_dump=True, dump_path="/tmp")
    return NPURunConfig(dump_config=dump_config if rank == 0 else None)


def time_after_time(flags):
    run_config = None
    while True:
        yield run_config
        run_config = NPURunConfig(model_dir=flags.model_dir)


def asks_for_nothing():
    dump_config = DumpConfig()
    profiling_config = ProfilingConfig(enable_profiling=False, profiling_options=None)
    return NPURunConfig(model_dir="out")


class Trainer:
    memory_config = MemoryConfig(static_memory_policy=2)

    def __init__(self):
        self.dump_config = DumpConfig(enable_dump=True, dump_path="/tmp")

    def build(self):
        return NPURunConfig(dump_config=self.dump_config)


class Inherited(Trainer):
    def __init__(self):
        self.run_config = NPURunConfig(model_dir="out")


if __name__ == "__main__":
    Inherited()
