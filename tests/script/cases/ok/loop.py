import tensorflow as tf
from npu_bridge.npu_init import *
import numpy as np

x = tf.placeholder(tf.float32, [4])
v = tf.Variable(0.0)
grow = v.assign_add(1.0)
layers = []
for size in (4, 8):
    x = tf.layers.dense(x, size)


def build():
    return tf.reduce_mean(x)


for fold in range(3):
    tf.reset_default_graph()
    y = tf.square(tf.ones([4]))
    with tf.Session(config=npu_config_proto()) as sess:
        sess.run(y)
for fold in range(3):
    with tf.Graph().as_default():
        y = tf.square(tf.ones([4]))
        with tf.Session(config=npu_config_proto()) as sess:
            sess.run(y)
with tf.Session(config=npu_config_proto()) as sess:
    mean = build()
    for step in range(10):
        if step == 0:
            sess.run(tf.reduce_max(x))
        sess.run(grow)
        v.load(np.mean([1.0]), sess)
        print(np.sqrt(sess.run(mean)))
        summary = tf.Summary()
    for variable in tf.trainable_variables():
        sess.run(tf.assign(variable, np.zeros([4])))
