from npu_bridge.npu_init import *

config = NPURunConfig(horovod_mode=1)
estimator = NPUEstimator(model_fn, config=config)
