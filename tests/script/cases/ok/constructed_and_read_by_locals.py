"""All local names are read at once; and a class of the script has a name of npu_bridge."""

from npu_bridge.npu_init import NPURunConfig


class DumpConfig:
    def __init__(self, enable_dump):
        print(enable_dump)


def build(flags):
    run_config = NPURunConfig(model_dir=flags.model_dir)
    other = DumpConfig(enable_dump=True)
    return locals()
