from npu_config.npu_init import *
import atexit
import tensorflow as tf


def model_fn(features, labels, mode):
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    step = tf.train.get_or_create_global_step()
    optimizer = npu_distributed_optimizer_wrapper(tf.train.GradientDescentOptimizer(0.1 * get_npu_rank_size()))
    train = optimizer.minimize(tf.square(w - 1.0), global_step=step)
    return tf.estimator.EstimatorSpec(mode, loss=w, train_op=train)


npu_sess, npu_shutdown = init_resource()
atexit.register(lambda: (shutdown_resource(npu_sess, npu_shutdown), close_session(npu_sess)))
config = tf.estimator.RunConfig(
    save_checkpoints_steps=50 if get_npu_rank_id() == 0 else None)
est = tf.estimator.Estimator(model_fn, config=npu_run_config_init(run_config=config))
spec = tf.estimator.TrainSpec(lambda: tf.data.Dataset.from_tensors([0.0]).repeat(), max_steps=3)
tf.estimator.train_and_evaluate(est, spec, tf.estimator.EvalSpec(lambda: tf.data.Dataset.from_tensors([0.0])))
print(int(est.get_variable_value("global_step")))
