"""A NPURunConfig whose options are in its session_config, one that NPUEstimator gets, too, and
one that goes where nothing is known."""

import sys

import tensorflow as tf
from npu_bridge.npu_init import *

session_config = tf.ConfigProto()
custom_op = session_config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["hccl_timeout"].i = 1800
session_config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
session_config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
first = NPURunConfig(model_dir="out", save_checkpoints_steps=100, session_config=session_config)
one = tf.estimator.Estimator(model_fn=model_fn, config=first)
second = NPURunConfig(precision_mode="allow_mix_precision")
two = tf.estimator.Estimator if len(sys.argv) > 1 else NPUEstimator
three = two(model_fn=model_fn, config=second)
third = NPURunConfig(precision_mode="allow_mix_precision")
four = build(tf.estimator.Estimator, third)
fourth = NPURunConfig(precision_mode="allow_mix_precision")
five = tf.estimator.Estimator(model_fn=model_fn, config=fourth)
six = NPUEstimator(model_fn=model_fn, config=fourth)
