from npu_bridge.npu_init import *

config = NPURunConfig(dump_config={"enable_dump": True})
estimator = NPUEstimator(model_fn, config=config)
