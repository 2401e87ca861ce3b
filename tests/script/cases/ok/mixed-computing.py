import tensorflow as tf
from npu_bridge.npu_init import *
accumulator = tf.ConditionalAccumulator(tf.float32, shape=[])
total = tf.accumulate_n([1.0, 2.0])
x = tf.py_func(len, [total], tf.float64)
y = tf.cast(x, tf.float64)
table = tf.contrib.lookup.index_table_from_tensor(["a"])
data = tf.data.Dataset.from_tensor_slices(["a"]).map(table.lookup)
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["mix_compile_mode"].b = True
with tf.Session(config=config) as sess:
    sess.run(x)
