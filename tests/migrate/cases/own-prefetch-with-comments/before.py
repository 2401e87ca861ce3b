import tensorflow as tf

data = tf.data.Dataset.range(4).batch(2, drop_remainder=True)
data = data.apply(
    tf.data.experimental.prefetch_to_device(
        "/gpu:0",  # the first device
        buffer_size=2))
data = data.apply(tf.data.experimental.copy_to_device("/gpu:0")).prefetch(1)
it = tf.compat.v1.data.make_initializable_iterator(data)
value = it.get_next()
with tf.Session() as sess:
    sess.run(it.initializer)
    print(sess.run(value).tolist())
