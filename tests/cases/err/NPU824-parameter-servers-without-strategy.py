# environment: TF_CONFIG={"cluster":{"ps":["a:1"],"worker":["b:1"]}}
from npu_bridge.npu_init import *

config = NPURunConfig(mix_compile_mode=True, distribute=None)
estimator = NPUEstimator(model_fn, config=config)
