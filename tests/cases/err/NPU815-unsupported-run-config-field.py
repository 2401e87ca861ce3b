from npu_bridge.npu_init import *

config = NPURunConfig(train_distribute="mirrored")
estimator = NPUEstimator(model_fn, config=config)
