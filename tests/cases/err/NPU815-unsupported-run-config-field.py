from npu_bridge.npu_init import *

config = NPURunConfig(protocol="grpc")
estimator = NPUEstimator(model_fn, config=config)
