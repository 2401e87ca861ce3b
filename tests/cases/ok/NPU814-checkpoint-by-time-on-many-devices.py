# environment: RANK_SIZE=8
from npu_bridge.npu_init import *

config = NPURunConfig(save_checkpoints_steps=1000)
estimator = NPUEstimator(model_fn, config=config)
