import tensorflow as tf
from npu_bridge.npu_init import *
BUFFER = 10 * 1000
config = NPURunConfig(model_dir="/tmp/model")


def input_fn():
    names = tf.data.Dataset.list_files("*.tfrecord").repeat()
    data = names.interleave(tf.data.TFRecordDataset, cycle_length=4).shuffle(BUFFER)
    return data.batch(8, drop_remainder=True)


def other_input_fn(dataset):
    dataset = dataset.apply(tf.data.experimental.shuffle_and_repeat(50000, 2))
    return dataset.shuffle(buffer_size=2 ** 15).batch(8, drop_remainder=True)


NPUEstimator(None, config=config).train(input_fn)
