from npu_config.npu_init import *
import tensorflow as tf

ds = tf.data.Dataset.range(10).repeat()


def limit():
    global ds
    ds = ds.take(3)


def pipeline():
    numbers = tf.data.Dataset.range(10).repeat()
    endless = tf.data.Dataset.range(10).repeat()

    def shorten():
        nonlocal numbers
        numbers = numbers.take(3)

    shorten()
    return numbers.batch(4), endless.batch(4, drop_remainder=True)


limit()
b = ds.batch(4).make_one_shot_iterator().get_next()
with tf.Session(config=npu_config_proto()) as sess:
    print(sess.run(b))
