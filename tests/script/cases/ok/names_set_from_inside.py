import tensorflow as tf
from npu_bridge.npu_init import *

mode = "none"


def choose():
    global mode
    mode = "allow_mix_precision"


def main():
    level = 5

    def train():
        nonlocal level
        level = 1

    choose()
    train()
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes(mode)
    custom_op.parameter_map["graph_run_mode"].i = level
    with tf.Session(config=config) as sess:
        sess.run(step)


main()
