import tensorflow as tf
from npu_bridge.npu_init import *
LAST = False


def train_input_fn(params):
    dataset = tf.data.TFRecordDataset(["a"])
    dataset = dataset.repeat()
    dataset = dataset.batch(params["size"])
    return dataset


def build(train_dataset):
    return train_dataset.padded_batch(8, ([None],), drop_remainder=LAST)


class Data:
    def __init__(self):
        self.rows = tf.data.TextLineDataset("train.csv")

    def read(self):
        return self.rows.apply(tf.contrib.data.map_and_batch(len, batch_size=4))


def given_or_made(dataset, path):
    if path:
        dataset = tf.data.TextLineDataset(path)
    return dataset.batch(32)


def batches_of_its_own(path, Loader):
    dataset = Loader(path)
    return dataset.batch(16)


def not_called_a_dataset(items, path):
    if path:
        items = tf.data.TextLineDataset(path)
    return items.batch(16)


with tf.Session(config=npu_config_proto()) as sess:
    sess.run(train_input_fn({}).make_one_shot_iterator().get_next())
