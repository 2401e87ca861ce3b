import tensorflow as tf
from npu_bridge.npu_init import *


def model_fn(features, labels, mode):
    train_op = tf.train.AdamOptimizer().minimize(loss)
    looped = tf.group(train_op, name="IterationOp")
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
