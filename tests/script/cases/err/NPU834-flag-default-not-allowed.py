import tensorflow as tf
from absl import flags
from npu_bridge.npu_init import *

FLAGS = flags.FLAGS
flags.DEFINE_string("over_dump_path", "./overflow", "where to dump")
flags.DEFINE_integer("level", 7, "debug level")

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["dump_debug_mode"].s = tf.compat.as_bytes(FLAGS.over_dump_path)
custom_op.parameter_map["enable_dump_debug"].b = True
custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes("/tmp/dump")
custom_op.parameter_map["op_debug_level"].i = FLAGS.level
sess = tf.Session(config=config)
