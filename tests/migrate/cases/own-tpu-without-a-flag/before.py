import tensorflow as tf


def model_fn(features, labels, mode, params):
    optimizer = tf.train.AdamOptimizer()
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=optimizer)
