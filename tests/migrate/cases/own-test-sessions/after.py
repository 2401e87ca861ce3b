from npu_config.npu_init import *
import tensorflow as tf


class SumTest(tf.test.TestCase):
    def test_sessions(self):
        with self.session(graph=tf.Graph()):
            self.assertEqual(2, 1 + 1)
        with self.cached_session() as sess:
            self.assertEqual(3, sess.run(tf.constant(3)))


class Other(object):
    def session(self):
        return "own"


with tf.Session(config=npu_config_proto()) as sess:
    print(sess.run(tf.constant(5)), Other().session())
