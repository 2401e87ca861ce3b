"""Configurations that are used in ways that are not followed statement by statement."""

import contextlib

import tensorflow as tf
from npu_bridge.npu_init import *


@contextlib.contextmanager
def yielded():
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["use_off_line"].b = True
    yield config


def in_a_lambda():
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["use_off_line"].b = True
    open_session = lambda: tf.Session(config=config)
    return open_session()


def in_a_comprehension():
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["use_off_line"].b = True
    sessions = [tf.Session(config=config) for _ in range(2)]
    config = tf.ConfigProto()
    return sessions


async def awaited():
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["use_off_line"].b = True
    await run(config)


def copied():
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["use_off_line"].b = True
    other = tf.ConfigProto()
    other.CopyFrom(config)
    return tf.Session(config=other)


def serialized():
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["use_off_line"].b = True
    data = config.SerializeToString()
    write(data)


class Trainer:
    @property
    def config(self):
        config = tf.ConfigProto()
        custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
        custom_op.parameter_map["use_off_line"].b = True
        return config

    def train(self):
        with tf.Session(config=self.config) as sess:
            pass


if __name__ == "__main__":
    Trainer().train()
