import threading

import tensorflow as tf
from npu_bridge.npu_init import *


def train(device):
    config = tf.ConfigProto()
    op = config.graph_options.rewrite_options.custom_optimizers.add()
    op.name = "NpuOptimizer"
    op.parameter_map["session_device_id"].i = -1
    op.parameter_map["local_rank_id"].i = device
    sess = tf.Session(config=config)
    sess.run("train")


for number in range(8):
    threading.Thread(target=train, args=(number,)).start()
