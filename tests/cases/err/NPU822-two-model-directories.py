from npu_bridge.npu_init import *

config = NPURunConfig(model_dir="/b")
estimator = NPUEstimator(model_fn, model_dir="/a", config=config)
