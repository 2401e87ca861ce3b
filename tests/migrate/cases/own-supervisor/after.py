from npu_config.npu_init import *
import tensorflow as tf


class Runner(object):
    def __init__(self):
        self.step = tf.train.get_or_create_global_step()
        self.supervisor = tf.train.Supervisor(logdir=None, summary_op=None, saver=None)

    def run(self):
        with self.supervisor.managed_session(config=npu_config_proto(config_proto=tf.ConfigProto())) as sess:
            return sess.run(self.step)


def borrowed(supervisor):
    with supervisor.managed_session("") as sess:
        return sess.graph.finalized


runner = Runner()
print(runner.run(), borrowed(runner.supervisor))
with tf.Graph().as_default() as graph:
    x = tf.constant(2)
    graph.finalize()
with tf.Session(graph=graph, config=npu_config_proto()) as sess:
    print(sess.run(x))
