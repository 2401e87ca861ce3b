from npu_bridge.npu_init import *

config = NPURunConfig(iterations_per_loop=10, save_checkpoints_steps=30, save_summary_steps=5)
estimator = NPUEstimator(model_fn, config=config)
