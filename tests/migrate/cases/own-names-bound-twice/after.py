from npu_config.npu_init import *
import tensorflow as tf
from tensorflow import InteractiveSession, Session


def Session(value):  # noqa: F811
    return value


def parameter(InteractiveSession):
    return InteractiveSession


print(Session(3), parameter(None))
with tf.compat.v2.compat.v1.Session(config=npu_config_proto()) as sess:
    print(sess.run(tf.constant(4)))
