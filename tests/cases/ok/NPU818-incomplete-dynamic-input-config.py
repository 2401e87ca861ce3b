from npu_bridge.npu_init import *

config = NPURunConfig(
    graph_run_mode=0,
    dynamic_input_config=DynamicInputConfig("data:1,-1", "1;2", 1, 0),
)
estimator = NPUEstimator(model_fn, config=config)
