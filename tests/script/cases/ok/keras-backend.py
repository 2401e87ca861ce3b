import tensorflow as tf
from npu_bridge.npu_init import *
import numpy as np
from tensorflow.keras import backend as K

state = K.zeros([2])
a = tf.data.Dataset.range(20).map(lambda i: (i, K.zeros_like(i))).map(lambda i, z: tf.zeros([1]))
b = tf.data.Dataset.from_tensor_slices(np.zeros([4]))
x = a.batch(2, drop_remainder=True).make_one_shot_iterator().get_next() + state
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
