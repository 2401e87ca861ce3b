"""A builder that may come from a module of the project's own."""

import tensorflow as tf
from mine import *
from npu_config import *

builder = NpuConfigBuilder().op_precision({"MatMul": "high_precision"})
with tf.Session(config=builder.build().to_config_proto()) as session:
    session.run(tf.constant(1))
