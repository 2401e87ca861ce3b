import tensorflow as tf
from npu_bridge.npu_init import *

loss = build()
train_op = tf.train.AdamOptimizer().minimize(loss)
saver = tf.train.Saver()
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")


def restored(path):
    with tf.Session() as sess:
        saver.restore(sess, path)
        print(sess.run(accuracy))


def initialized():
    sess = tf.Session(graph=tf.get_default_graph())
    sess.run(tf.global_variables_initializer())


def initialized_by_name():
    init = tf.initialize_all_variables()
    with tf.InteractiveSession():
        init.run()


class Trainer:
    def __init__(self):
        self.sess = tf.Session(config=None)
        self.step = tf.train.AdamOptimizer().minimize(loss)

    def train(self):
        self.sess.run([self.step, loss])


def monitored():
    with tf.train.MonitoredTrainingSession(checkpoint_dir="ckpt") as sess:
        print(sess.run(accuracy))
    with tf.train.SingularMonitoredSession() as sess:
        print(sess.run(accuracy))


if __name__ == "__main__":
    with tf.Session(config=config) as sess:
        sess.run([train_op, loss])
    with tf.compat.v1.Session() as sess:
        print(sess.run(loss))
