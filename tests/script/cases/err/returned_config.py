import tensorflow as tf
from npu_bridge.npu_init import *


def session_config(dump):
    config = tf.ConfigProto()
    op = config.graph_options.rewrite_options.custom_optimizers.add()
    op.name = "NpuOptimizer"
    if dump:
        op.parameter_map["enable_dump"].b = True
    return config


def main():
    with tf.Session(config=session_config(True)) as sess:
        sess.run("train")
    with tf.Session(config=session_config(False)) as sess:
        sess.run("test")


if __name__ == "__main__":
    main()
