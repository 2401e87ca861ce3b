from npu_bridge.npu_init import *

config = NPURunConfig(save_checkpoints_steps=None, save_checkpoints_secs=None)
estimator = NPUEstimator(model_fn, config=config)
