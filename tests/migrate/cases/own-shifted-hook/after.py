from npu_bridge.npu_init import *
import tensorflow as tf

hooks = [tf.train.StopAtStepHook(last_step=1)]
estimator = tf.estimator.Estimator(lambda features: None, config=npu_run_config_init())
estimator.train(None, hooks=npu_hooks_append(hooks_list=hooks))
print(hooks[-1].last_step)
