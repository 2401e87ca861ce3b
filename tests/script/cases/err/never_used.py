"""Names that are used elsewhere say nothing of this one."""

import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["use_off_line"].b = True
config.gpu_options.allow_growth = True
print(config)


def train(config):
    with tf.Session(config=config) as sess:
        pass


def make():
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["use_off_line"].b = True
    return config


def replaced():
    if args.npu:
        config = tf.ConfigProto()
        custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
        custom_op.parameter_map["use_off_line"].b = True
    config = make_config(args)
    return tf.Session(config=config)


def main():
    config = make()
    with tf.Session() as sess:
        pass


if __name__ == "__main__":
    main()
