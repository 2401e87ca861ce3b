import tensorflow as tf
from npu_bridge.npu_init import *

LOOP = 10
steps = 3 * LOOP + 5


def make(every):
    return NPURunConfig(iterations_per_loop=20, save_checkpoints_steps=every)


written = NPURunConfig(model_dir="m", iterations_per_loop=100, save_checkpoints_steps=250)
computed = NPURunConfig(save_checkpoints_steps=steps, iterations_per_loop=LOOP)
given = make(50)
options = dict(iterations_per_loop=7, save_checkpoints_steps=20)
unpacked = NPURunConfig(**options)
