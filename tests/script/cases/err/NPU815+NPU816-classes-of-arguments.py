import tensorflow as tf
from npu_bridge.npu_init import *


def estimator(config):
    return NPUEstimator(model_fn=model_fn, config=config)


strategy = tf.distribute.MirroredStrategy()
estimator(NPURunConfig(train_distribute=strategy, save_checkpoints_steps=100))
estimator(NPURunConfig(memory_config={"static_memory_policy": 2}, save_checkpoints_steps=100))
estimator(NPURunConfig(profiling_config=DumpConfig(), save_checkpoints_steps=100))
estimator(NPURunConfig(dump_config=MemoryConfig(), save_checkpoints_steps=100))
estimator(NPURunConfig(session_config={"log": True}, save_checkpoints_steps=100))
