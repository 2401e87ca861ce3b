import importlib
import tensorflow as tf

library = importlib.import_module("tensorflow")
x = tf.constant(8)
with library.Session() as sess:
    print(sess.run(x))


def use(tf):
    with tf.Session() as sess:
        return sess.run(x)


print(use(tf))
