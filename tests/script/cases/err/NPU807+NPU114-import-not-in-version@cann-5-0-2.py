import tensorflow as tf
from npu_bridge.npu_init import (
    NPUEstimator,
    NPURunConfig,
    SetIterationsVarHook,
)

run_config = NPURunConfig(
    model_dir="/tmp/model",
    iterations_per_loop=10,
    enable_data_pre_proc=True,
    mstune_mode="1",
    deterministic=1,
    session_config=tf.ConfigProto(),
)
estimator = NPUEstimator(model_fn=model_fn, config=run_config)
estimator.train(input_fn, hooks=[SetIterationsVarHook(10)])
