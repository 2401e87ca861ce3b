from npu_bridge.npu_init import *

estimator = NPUEstimator(model_fn=model_fn, model_dir="out")
