import tensorflow as tf
from npu_bridge.npu_init import *
from settings import of_memory, of_session

strategy = None if of_memory() is None else of_memory()
config = NPURunConfig(
    train_distribute=strategy,
    memory_config=of_memory(),
    profiling_config=ProfilingConfig(),
    session_config=of_session,
    save_checkpoints_steps=100,
)
NPUEstimator(model_fn=model_fn, config=config)
again = NPURunConfig(train_distribute=npu_strategy.NPUStrategy(), save_checkpoints_steps=100)
NPUEstimator(model_fn=model_fn, config=again)
