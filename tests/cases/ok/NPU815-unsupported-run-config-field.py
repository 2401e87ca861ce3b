from npu_bridge.npu_init import *

config = NPURunConfig()
estimator = NPUEstimator(model_fn, config=config)
