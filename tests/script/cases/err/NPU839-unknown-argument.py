from npu_bridge.npu_init import *

dump = DumpConfig(enable_dump=True, path="/tmp/dump")
config = NPURunConfig(auto_tune_mode="RL,GA", iteration_per_loop=10, dump_config=dump)
estimator = NPUEstimator(model_fn, config=config, use_tpu=False)
estimator = NPUEstimator(model_fn=model_fn, config=run_config, use_tpu=True, train_batch_size=8)
