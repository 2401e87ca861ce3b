import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
table = tf.contrib.lookup.index_table_from_file("vocabulary.txt")
dataset = tf.data.TextLineDataset("train.txt").map(lambda text: table.lookup(text))
sess = tf.Session(config=config)
