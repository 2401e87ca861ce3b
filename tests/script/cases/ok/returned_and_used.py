"""What a function gives is used where it is called, or by whoever imports it."""

import tensorflow as tf
from npu_bridge.npu_init import *


def make_config(flags):
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
    return config


def in_a_dictionary():
    config = make_config(None)
    return {"config": config}


first = make_config(FLAGS)
sess = tf.Session(config=first)
first = make_config(FLAGS)
given = make_config(FLAGS)
exported = make_config(FLAGS)


def train():
    with tf.Session(config=given) as sess:
        sess.run("train")


def again():
    return tf.Session(config=first)
