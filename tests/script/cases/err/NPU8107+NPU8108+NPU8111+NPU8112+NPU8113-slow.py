import tensorflow as tf
from npu_bridge.npu_init import *
from tensorflow.keras.layers import Dropout, SpatialDropout2D
from tensorflow.nn import dropout

x = tf.placeholder(tf.float32, [1, 8, 8, 3])


def gelu(x):
    inner = 0.044715 * x * x * x
    return 0.5 * x * (1 + tf.nn.tanh(0.79788456 * (x + inner)))


def network(x):
    x = tf.image.resize(x, [8, 8])
    x = tf.image.resize_images(x, [8, 8], method=tf.image.ResizeMethod.BILINEAR)
    x = tf.compat.v1.image.resize_bilinear(x, [8, 8])
    x = tf.extract_image_patches(x, [1, 3, 3, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME")
    x = dropout(x, 0.9)
    x = Dropout(0.5)(SpatialDropout2D(0.1)(x))
    cell = tf.contrib.rnn.GRUCell(8)
    return tf.nn.dynamic_rnn(cell=cell, inputs=gelu(x), dtype=tf.float32)[0]


train_op = tf.train.AdamOptimizer().minimize(tf.reduce_mean(network(x)))
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(train_op)
