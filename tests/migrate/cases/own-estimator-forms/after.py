from npu_config.npu_init import *
import functools
import tensorflow as tf


def model_fn(features, labels, mode):
    raise NotImplementedError


class Own(tf.estimator.Estimator):
    pass


columns = [tf.feature_column.numeric_column("x")]
make = functools.partial(tf.estimator.Estimator, model_fn=model_fn)
first = tf.estimator.LinearClassifier(columns, None, 3, None, None, "Ftrl", npu_run_config_init(run_config=tf.estimator.RunConfig()))
second = tf.estimator.DNNRegressor([4], columns, config=npu_run_config_init())
third = tf.estimator.BaselineRegressor(config=npu_run_config_init(run_config=None))
print(isinstance(first, tf.estimator.Estimator), type(second).__name__, third.config.tf_random_seed)
print(make().model_dir is None, Own(model_fn).model_dir is None)
