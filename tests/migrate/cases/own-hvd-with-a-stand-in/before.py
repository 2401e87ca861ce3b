import tensorflow as tf
try:
    import horovod.tensorflow as hvd
except ImportError:
    class hvd(object):
        rank = staticmethod(lambda: 0)
        size = staticmethod(lambda: 1)


def scale(value):
    return value * hvd.size() + hvd.rank()


with tf.Session() as sess:
    print(sess.run(tf.constant(scale(2))))
