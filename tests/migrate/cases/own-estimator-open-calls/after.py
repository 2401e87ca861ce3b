from npu_config.npu_init import *
import tensorflow as tf


def model_fn(features, labels, mode):
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(w - 1.0), global_step=step)
    return tf.estimator.EstimatorSpec(mode, loss=w, train_op=train)


options = {"config": tf.estimator.RunConfig(tf_random_seed=1)}
est = tf.estimator.Estimator(model_fn, **options)
train = tf.estimator.TrainSpec(lambda: tf.data.Dataset.from_tensors([0.0]).repeat(), max_steps=3)
evaluate = tf.estimator.EvalSpec(lambda: tf.data.Dataset.from_tensors([0.0]))
tf.estimator.train_and_evaluate(est, train, evaluate)
print(int(est.get_variable_value("global_step")))
