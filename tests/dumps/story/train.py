"""A training script as a user has it; its configuration is the first argument."""

import sys

import numpy as np
import tensorflow as tf
from stand_in import Device
from tensorflow.python import debug as tf_debug

import npu_config

config = npu_config.NpuConfig.load(sys.argv[1]).to_config_proto()
if "--tfdbg" in sys.argv:  # every operator by itself
    config.graph_options.rewrite_options.disable_meta_optimizer = True
random = np.random.RandomState(1)
batch = random.uniform(-4, 4, [8, 16]).astype("f4")

x = tf.placeholder(tf.float32, [8, 16], name="x")
w = tf.get_variable("w", initializer=random.uniform(0, 40, [16, 4]).astype("f4"))
hidden = tf.matmul(x, w, name="dense/MatMul")
active = tf.nn.relu(hidden, name="dense/Relu")
power = tf.square(active, name="norm/Square")
scaled = tf.multiply(power, 1e-3, name="norm/Mul")
output = tf.log1p(scaled, name="norm/Log1p")
loss = tf.reduce_mean(output, name="loss/Mean")

with tf.Session(config=config) as session:
    session.run(tf.global_variables_initializer())
    if "--tfdbg" in sys.argv:
        session = tf_debug.DumpingDebugWrapperSession(session, "tfdbg", log_usage=False)
        print("loss", session.run(loss, {x: batch}))
    else:
        print("loss", Device(config).run(session, loss, {x: batch}))
