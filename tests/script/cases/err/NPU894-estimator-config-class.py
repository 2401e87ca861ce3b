import tensorflow as tf
from npu_bridge.npu_init import *

estimator = NPUEstimator(model_fn=model_fn, config=tf.estimator.RunConfig(model_dir="out"))
