import tensorflow as tf
from npu_bridge.npu_init import *
from npu_bridge.estimator.npu import npu_convert_dropout
from npu_bridge.estimator import npu_ops

x = tf.placeholder(tf.float32, [1, 8, 8, 3])


def parse(image):
    image = tf.image.resize_bilinear(image, [8, 8])
    return tf.image.extract_image_patches(image, [1, 3, 3, 1], [1] * 4, [1] * 4, "SAME")


class MyCell(tf.nn.rnn_cell.RNNCell):
    pass


a = tf.data.TFRecordDataset("a").map(parse)
x = tf.image.resize_nearest_neighbor(x, [4, 4])
x = tf.image.resize_images(x, [8, 8], tf.image.ResizeMethod.NEAREST_NEIGHBOR)
x = npu_ops.dropout(x, 0.9)
x = tf.nn.dropout(x, keep_prob=1.0)
x = tf.keras.layers.Dropout(0.5)(x)
x = 0.5 * x * (1.0 + tf.tanh(x)) * 0.044715
y = tf.nn.dynamic_rnn(MyCell(), x)
train_op = tf.train.AdamOptimizer().minimize(tf.reduce_mean(x))
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(train_op)
