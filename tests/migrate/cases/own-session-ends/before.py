import contextlib
import tensorflow as tf


def first(value):
    sess = tf.Session()
    result = sess.run(value)
    sess.close()
    return result


def second(value):
    sess = tf.Session()
    return sess.run(value)


def third(value):
    with contextlib.closing(tf.Session()) as sess:
        return sess.run(value)


x = tf.constant(6)
tf.train.get_or_create_global_step()
print(first(x), second(x), third(x))
sess = tf.train.MonitoredTrainingSession()
print(sess.run(x), type(sess) is tf.Session)
