import tensorflow as tf
from npu_bridge.npu_init import *


def first():
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    return tf.Session(config=config)


def second():
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    return tf.Session(config=config)


if __name__ == "__main__":
    first()
    second()
