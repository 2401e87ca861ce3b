import tensorflow as tf
from npu_bridge.npu_init import *
x = tf.placeholder(tf.float32, [4])
v = tf.Variable(0.0)
optimizer = tf.train.AdamOptimizer()
it = tf.data.TFRecordDataset("a").make_one_shot_iterator()


def evaluate(sess):
    mean = tf.reduce_mean(x)
    return sess.run(mean)


class Trainer:
    def __init__(self):
        self.sess = tf.Session(config=npu_config_proto())

    def train(self):
        while True:
            self.sess.run(v.assign_add(1.0))


with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(10):
        for step in range(10):
            sess.run(it.get_next())
            if step % 5 == 0:
                print(sess.run(tf.reduce_sum(x)))
        evaluate(sess)
        train_op = optimizer.minimize(v)
