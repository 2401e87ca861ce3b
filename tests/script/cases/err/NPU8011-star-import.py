import tensorflow as tf
from npu_config import *

builder = NpuConfigBuilder().op_precision({"MatMul": "high_precision"})
with tf.Session(config=builder.build().to_config_proto()) as session:
    session.run(tf.constant(1))
