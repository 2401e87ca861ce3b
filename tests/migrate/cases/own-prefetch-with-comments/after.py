from npu_config.npu_init import *
import tensorflow as tf

data = tf.data.Dataset.range(4).batch(2, drop_remainder=True)
data = data.prefetch(  # the first device
        buffer_size=2)
data = data.prefetch(1)
it = tf.compat.v1.data.make_initializable_iterator(data)
value = it.get_next()
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(it.initializer)
    print(sess.run(value).tolist())
