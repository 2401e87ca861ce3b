from npu_config.npu_init import *
import contextlib
import tensorflow as tf


def first(value):
    sess = tf.Session(config=npu_config_proto())
    result = sess.run(value)
    sess.close()
    return result


def second(value):
    sess = tf.Session(config=npu_config_proto())
    return sess.run(value)


def third(value):
    with contextlib.closing(tf.Session(config=npu_config_proto())) as sess:
        return sess.run(value)


x = tf.constant(6)
tf.train.get_or_create_global_step()
print(first(x), second(x), third(x))
sess = tf.train.MonitoredTrainingSession(config=npu_config_proto())
print(sess.run(x), type(sess) is tf.Session)
