import tensorflow as tf
from npu_bridge.npu_init import *


def model_fn(features, labels, mode):
    with tf.variable_scope("train"):
        train_op = tf.train.AdamOptimizer().minimize(loss)
        with tf.control_dependencies([train_op]):
            train_op = tf.no_op(name="IterationOp")
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
