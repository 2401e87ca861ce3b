import tensorflow as tf
from npu_bridge.npu_init import *
from tensorflow.keras import backend as K


def parse(i):
    return tf.to_float(i), K.ones([1])


def input_fn():
    labels = tf.keras.backend.zeros([8])
    return tf.data.Dataset.from_tensor_slices(labels).batch(2, drop_remainder=True)


start = K.variable(1.0)
a = tf.data.Dataset.range(20).map(parse)
b = tf.data.Dataset.range(20).map(lambda i: (i, K.zeros(shape=[2])))
c = tf.data.Dataset.range(20).map(lambda i: tf.to_float(i) + start)
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
