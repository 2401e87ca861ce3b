import tensorflow as tf
from npu_bridge.npu_init import *

steps = 5
whole = NPURunConfig(iterations_per_loop=20, save_checkpoints_steps=20 * steps)
single = NPURunConfig(iterations_per_loop=1, save_checkpoints_steps=33)
timed = NPURunConfig(iterations_per_loop=20, save_checkpoints_secs=30)
unknown = NPURunConfig(iterations_per_loop=20, save_checkpoints_steps=FLAGS.every)
