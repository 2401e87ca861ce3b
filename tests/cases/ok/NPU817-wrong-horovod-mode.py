from npu_bridge.npu_init import *

config = NPURunConfig(horovod_mode=True)
estimator = NPUEstimator(model_fn, config=config)
