# -*- coding: utf-8 -*-
'''Styles: "import tensorflow as tf" is said here, and tf.Session().'''
from npu_config.npu_init import npu_config_proto
import functools; import tensorflow as tf

CODE = """
import horovod.tensorflow as hvd
hvd.init()
"""


def session(fn=None, *, config=None):
    if fn is None:
        return functools.partial(session, config=config)

    @functools.wraps(fn)
    def inner(*args, **kwargs):
        # type: (...) -> tf.Session
        with tf.Graph().as_default() as g, \
                tf.Session(graph=g, config=npu_config_proto(config_proto=config)) as sess, g.device("/cpu:0"):
            return fn(sess, *args, **kwargs)
    return inner


@session(config=tf.ConfigProto(allow_soft_placement=True))
def run(sess, value):
	return sess.run(tf.constant(value))


class Outer:
    class Inner:
        @staticmethod
        def make(tf=None):
            return tf
        quick = staticmethod(lambda: tf.Session(config=npu_config_proto()))

    def value(self, sess: "tf.Session" = None):
        with (sess or
              self.Inner.quick()) as one: return one.run(tf.constant(4))


try:
    nothing = tf.Session.nothing
except AttributeError: print(f"{run(1)!r:>3} tf.Session() {run(tf.Session().run(tf.constant(2))):d}")
else: tf.Session(config=npu_config_proto())
print(Outer().value(), len(CODE), (lambda *, s=tf.ConfigProto: s().ByteSize())())
