import tensorflow as tf
from npu_bridge.npu_init import *
table = tf.contrib.lookup.index_table_from_tensor(["a", "b"])
codes = tf.constant([1, 2])


class Reader:
    def lookup(self, word):
        return word


reader = Reader()
a = tf.data.Dataset.from_tensor_slices(["a"]).map(lambda w: reader.lookup(w))
b = tf.data.Dataset.range(2).map(lambda i: tf.gather(codes, i))
ids = table.lookup(a.make_one_shot_iterator().get_next())
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(ids)
