from npu_config.npu_init import *
import tensorflow as tf

keep = None
first = keep or tf.Session(config=npu_config_proto())
second = tf.Session(config=npu_config_proto()) if keep is None else keep
third = fourth = tf.Session(config=npu_config_proto())
pool = [tf.Session(config=npu_config_proto()) for _ in range(2)]
x = tf.constant(3)


class Holder:
    def __init__(self, sess=None):
        self.sess = sess or tf.Session(config=npu_config_proto())

    def close(self):
        self.sess.close()


def make(sess=None):
    return sess or tf.Session(config=npu_config_proto())


def many():
    yield tf.Session(config=npu_config_proto())


holder, made = Holder(), make()
for sess in [first, second, third, holder.sess, made] + pool + list(many()):
    print(sess.run(x))
    sess.close()
first.close()
second.close()
fourth.close()
holder.close()
tf.Session(config=npu_config_proto()).close()
