from npu_bridge.npu_init import *

config = NPURunConfig(iterations_per_loop=10, save_checkpoints_steps=30, log_step_count_steps=50)
estimator = NPUEstimator(model_fn, config=config)
