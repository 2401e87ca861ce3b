import tensorflow as tf
from npu_bridge.npu_init import *


def npu_config_proto(config_proto=None):
    return config_proto


class NPURunConfig(object):
    def __init__(self, auto_tune_mode=None):
        self.auto_tune_mode = auto_tune_mode


config = NPURunConfig(auto_tune_mode="RL,GA")
with tf.Session(config=npu_config_proto(tf.ConfigProto())) as sess:
    sess.run("train")
