from npu_config.npu_init import *
import tensorflow as tf

tf.config.optimizer.set_experimental_options(experimental_options)
tf.compat.v1.config.optimizer.set_experimental_options(
    options=experimental_options)  # the end
with tf.Session(config=npu_config_proto()) as sess:
    print(sess.run(tf.reduce_all(tf.is_finite(tf.constant([1.0])))))
