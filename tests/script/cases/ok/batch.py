import tensorflow as tf
from npu_bridge.npu_init import *
LAST = True


def eval_input_fn():
    return tf.data.TFRecordDataset(["a"]).batch(8)


def input_fn(is_training):
    dataset = tf.data.TFRecordDataset(["a"])
    if is_training:
        dataset = dataset.batch(8, drop_remainder=LAST)
    else:
        dataset = dataset.batch(8)
    return dataset.padded_batch(4, [None], None, True)


def other(dataset, last, options):
    dataset = dataset.batch(8, drop_remainder=last)
    return dataset.batch(8, **options)


class Loader:
    def batch(self, size):
        return size


rows = Loader().batch(4)
val_dataset = tf.data.TFRecordDataset(["a"]).batch(8)
one = tf.data.TFRecordDataset(["a"]).batch(1)
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(one.make_one_shot_iterator().get_next())
