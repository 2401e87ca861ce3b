from npu_config.npu_init import *
import atexit
import tensorflow as tf

a, b = tf.Session(config=npu_config_proto()), 2
one: tf.Session = tf.Session(config=npu_config_proto())
last = tf.Session(config=npu_config_proto())
atexit.register(last.close)
print(a.run(tf.constant(1)), one.run(tf.constant(b)), last.run(tf.constant(3)))
one.close()
