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
    return numbers.batch(4), endless.batch(4)


limit()
b = ds.batch(4).make_one_shot_iterator().get_next()
with tf.Session() as sess:
    print(sess.run(b))
