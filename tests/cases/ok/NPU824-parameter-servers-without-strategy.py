# environment: TF_CONFIG={"cluster":{"ps":["a:1"],"worker":["b:1"]}}
from npu_bridge.npu_init import *

strategy = tf.distribute.experimental.ParameterServerStrategy()
config = NPURunConfig(mix_compile_mode=True, distribute=strategy)
estimator = NPUEstimator(model_fn, config=config)
