import tensorflow as tf
import strategies

config = tf.estimator.RunConfig(tf_random_seed=2)
config = config.replace(train_distribute=strategies.make())
estimator = tf.estimator.Estimator(strategies.model_fn, config=config)
