import tensorflow as tf
from npu_bridge.npu_init import *

loss = tf.reduce_mean(tf.get_variable("w", [4, 1]))
optimizer = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer())
train_op = optimizer.minimize(loss)
hooks = [
    tf.train.StopAtStepHook(last_step=100),
    NPUBroadcastGlobalVariablesHook(0),
]
with tf.train.MonitoredTrainingSession(config=npu_config_proto()) as sess:
    while not sess.should_stop():
        sess.run(train_op)
