from npu_bridge.npu_init import *

dump = DumpConfig(
    enable_dump_debug=True, dump_path="/tmp", dump_mode=None, dump_debug_mode="all"
)
config = NPURunConfig(dump_config=dump)
estimator = NPUEstimator(model_fn, config=config)
