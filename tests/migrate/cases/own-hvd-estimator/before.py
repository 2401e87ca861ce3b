import tensorflow as tf
import horovod.tensorflow as hvd


def model_fn(features, labels, mode):
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    step = tf.train.get_or_create_global_step()
    optimizer = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(0.1 * hvd.size()))
    train = optimizer.minimize(tf.square(w - 1.0), global_step=step)
    return tf.estimator.EstimatorSpec(mode, loss=w, train_op=train)


hvd.init()
config = tf.estimator.RunConfig(
    save_checkpoints_steps=50 if hvd.rank() == 0 else None)
est = tf.estimator.Estimator(model_fn, config=config)
spec = tf.estimator.TrainSpec(lambda: tf.data.Dataset.from_tensors([0.0]).repeat(), max_steps=3)
tf.estimator.train_and_evaluate(est, spec, tf.estimator.EvalSpec(lambda: tf.data.Dataset.from_tensors([0.0])))
print(int(est.get_variable_value("global_step")))
