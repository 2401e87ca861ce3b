import tensorflow as tf
from google.protobuf import text_format
from npu_bridge.npu_init import *
from npu_config import NpuConfig, NpuConfigBuilder

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
exec("custom_op.parameter_map['precision_mode'].s = b'allow_mix'")
for name, value in read_options().items():
    custom_op.parameter_map[name].s = tf.compat.as_bytes(value)
text_format.Merge(read_text(), config)
if False:
    custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix")


def never(sess):
    return sess
    custom_op.parameter_map["hcom_parallel"].b = True


NpuConfig.load(read_name())
NpuConfig.from_dict(read_options())
NpuConfigBuilder().set(**read_options()).build()
config.graph_options.rewrite_options.custom_optimizers.extend(read_entries())
with tf.Session(config=config) as sess:
    sess.run(train_op)
