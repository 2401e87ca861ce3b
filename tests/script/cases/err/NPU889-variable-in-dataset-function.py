def parse(record):
    scale = tf.Variable(255.0)
    return record / scale


import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
dataset = tf.data.TFRecordDataset("train").map(parse)
dataset = dataset.map(lambda record: record + tf.get_variable("shift", []))
sess = tf.Session(config=config)
