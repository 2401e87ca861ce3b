import tensorflow as tf
from npu_bridge.npu_init import *


def train(config):
    npu_init = npu_ops.initialize_system()
    npu_shutdown = npu_ops.shutdown_system()
    sess = tf.Session(config=config)
    sess.run(npu_init)
    sess.close()


def end():
    npu_ops.shutdown_system()
