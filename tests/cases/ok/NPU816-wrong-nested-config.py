from npu_bridge.npu_init import *

config = NPURunConfig(
    dump_config=DumpConfig(enable_dump=True, dump_path="/tmp", dump_step="0")
)
estimator = NPUEstimator(model_fn, config=config)
