from npu_config.npu_init import *
import tensorflow as tf

config = tf.estimator.RunConfig(train_distribute=None, eval_distribute=None, tf_random_seed=2)
estimator = tf.estimator.Estimator(lambda features: None, config=npu_run_config_init(run_config=config))
print(estimator.config.tf_random_seed)
