import tensorflow as tf
from npu_bridge.estimator.npu import util

inputs = tf.placeholder(tf.float32, [None, 784])
rate = tf.placeholder(tf.float32, [])


def train(sess, optimizer, loss):
    labels = tf.placeholder(tf.int64, shape=(None,))
    train_op = util.set_iteration_per_loop(sess, optimizer, 10)
    for images, numbers in batches():
        _, value = sess.run([train_op, loss], feed_dict={rate: 0.1, labels: numbers, inputs: images})
        feeds = {inputs: images}
        sess.run(train_op, feeds)
