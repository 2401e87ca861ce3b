from npu_bridge.npu_init import *

config = NPURunConfig(save_checkpoints_steps=100)
estimator = NPUEstimator(model_fn, config=config)
