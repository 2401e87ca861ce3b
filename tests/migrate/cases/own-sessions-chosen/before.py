import tensorflow as tf

keep = None
first = keep or tf.Session()
second = tf.Session() if keep is None else keep
third = fourth = tf.Session()
pool = [tf.Session() for _ in range(2)]
x = tf.constant(3)


class Holder:
    def __init__(self, sess=None):
        self.sess = sess or tf.Session()

    def close(self):
        self.sess.close()


def make(sess=None):
    return sess or tf.Session()


def many():
    yield tf.Session()


holder, made = Holder(), make()
for sess in [first, second, third, holder.sess, made] + pool + list(many()):
    print(sess.run(x))
    sess.close()
first.close()
second.close()
fourth.close()
holder.close()
tf.Session().close()
