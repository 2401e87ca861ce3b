"""A module: what it binds may be imported by another."""

from npu_bridge.npu_init import *

dump_config = DumpConfig(enable_dump=True, dump_path="/tmp")
run_config = NPURunConfig(model_dir="out")


class Trainer:
    def __init__(self):
        self.dump_config = DumpConfig(enable_dump=True, dump_path="/tmp")
