import tensorflow as tf
from horovod.tensorflow import Compression


def wrap(hvd, optimizer):
    if hvd is None:
        return optimizer
    return hvd.DistributedOptimizer(optimizer, compression=Compression.fp16)


w = tf.Variable(1.0)
step = wrap(None, tf.train.GradientDescentOptimizer(0.25)).minimize(w * w)
with tf.Session() as sess:
    sess.run(w.initializer)
    sess.run(step)
    print(sess.run(w))
