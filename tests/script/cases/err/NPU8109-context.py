import tensorflow as tf
from npu_bridge.npu_init import *
import multiprocessing

context = multiprocessing.get_context("fork")
worker = context.Process(target=print)
with tf.Session(config=npu_config_proto()) as sess:
    pass
