import tensorflow as tf
from tensorflow import InteractiveSession, Session


def Session(value):  # noqa: F811
    return value


def parameter(InteractiveSession):
    return InteractiveSession


print(Session(3), parameter(None))
with tf.compat.v2.compat.v1.Session() as sess:
    print(sess.run(tf.constant(4)))
