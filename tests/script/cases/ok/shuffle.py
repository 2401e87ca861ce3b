import tensorflow as tf
from npu_bridge.npu_init import *
config = NPURunConfig(model_dir="/tmp/model")
names = ["a.tfrecord", "b.tfrecord"]


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(names).shuffle(20000).repeat()
    data = data.interleave(tf.data.TFRecordDataset, cycle_length=4).shuffle(5000)
    few = tf.data.Dataset.range(100).shuffle(100000)
    return tf.data.Dataset.zip((data, few)).batch(8, drop_remainder=True)


class Deck:
    def shuffle(self, buffer_size):
        return buffer_size


Deck().shuffle(50000)
NPUEstimator(None, config=config).train(input_fn)
