import tensorflow as tf
from npu_bridge.npu_init import *

images = tf.placeholder(tf.float32, [None, 784])
train_op = tf.group(build(images), name="IterationOp")


class Trainer:
    def __init__(self, sess):
        self.labels = tf.placeholder(tf.int64, [None])
        self.rate = tf.placeholder(tf.float32, [])
        self.train_op = optimizer(self.labels).minimize(loss)
        self.train_op = util.set_iteration_per_loop(sess, self.train_op, 10)

    def step(self, sess, batch):
        sess.run({"train": self.train_op}, feed_dict={self.labels: batch, self.rate: 0.1})

    def rate_only(self, sess):
        sess.run(self.train_op, feed_dict={self.rate: 0.1})


def main(config):
    feeds = {images: next(batches)}
    with tf.train.MonitoredTrainingSession(config=config, hooks=[SetIterationsVarHook(10)]) as sess:
        sess.run([train_op, loss], feed_dict=feeds)
        train_op.run(feeds, session=sess)


if __name__ == "__main__":
    main(configured())
