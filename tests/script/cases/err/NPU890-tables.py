import tensorflow as tf
from npu_bridge.npu_init import *
table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), 0)


def encode(word):
    return table.lookup(word)


class Vocabulary:
    def __init__(self):
        self.words = tf.contrib.lookup.index_table_from_tensor(["a", "b"])

    def data(self):
        names = tf.data.Dataset.from_tensor_slices(["a"])
        return names.filter(lambda w: self.words.lookup(w) > 0)


other = tf.contrib.lookup.HashTable(tf.contrib.lookup.KeyValueTensorInitializer(["a"], [1]), 0)
a = tf.data.Dataset.from_tensor_slices(["a"]).map(encode).map(lambda w: (w, 1))
b = tf.data.Dataset.from_tensor_slices(["a"]).map(other.lookup)
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.tables_initializer())
