import functools

import tensorflow as tf
from google.protobuf import json_format
from npu_bridge.npu_init import *
from npu_config import NpuConfigBuilder

CODE = "custom_op.parameter_map['precision_mode'].s = b'allow_mix'"
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
exec(compile(CODE, "options", "exec"))
json_format.ParseDict(read_options(), config)
make = functools.partial(NPURunConfig, precision_mode="allow_mix")
Builder = NpuConfigBuilder


class Config(NPURunConfig):
    pass


assert isinstance(make(), NPURunConfig)
NPUEstimator(model_fn=model_fn, config=NPURunConfig(**read_options()))
with tf.Session(config=config) as sess:
    sess.run(train_op)
