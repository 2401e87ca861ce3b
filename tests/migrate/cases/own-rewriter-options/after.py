from npu_config.npu_init import *
import tensorflow as tf
from tensorflow.core.protobuf import rewriter_config_pb2
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig

off = RewriterConfig.OFF
config = tf.ConfigProto()
options = config.graph_options.rewrite_options
options.remapping = rewriter_config_pb2.RewriterConfig.OFF
options.memory_optimization = RewriterConfig.NO_MEM_OPT
options.remapping = off
options.memory_optimization = RewriterConfig.NO_MEM_OPT
config.graph_options.rewrite_options.remapping = 2
made = RewriterConfig(remapping=RewriterConfig.OFF, constant_folding=RewriterConfig.OFF)


class Other(object):
    remapping = None


other = Other()
other.remapping = 1
with tf.Session(config=npu_config_proto(config_proto=config)) as sess:
    print(sess.run(tf.constant(1)), other.remapping, made.constant_folding)
