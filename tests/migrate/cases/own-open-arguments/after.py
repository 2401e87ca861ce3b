from npu_config.npu_init import *
import tensorflow as tf

options = {"config": tf.ConfigProto()}
x = tf.ones([4])
with tf.Session(**options) as one, tf.Session(*[""], graph=None) as two:
    print(one.run(tf.reduce_sum(x)), two.run(tf.reduce_sum(x)))
y = tf.nn.dropout(x, **{"keep_prob": 1.0})
data = tf.data.Dataset.range(4).repeat().batch(*[2]).prefetch(1)
value = tf.compat.v1.data.make_one_shot_iterator(data.batch(**{"batch_size": 1})).get_next()
with tf.Session(
        target="",  # here
        **{}
) as sess:
    print(sess.run(y).tolist(), sess.run(value).tolist())
