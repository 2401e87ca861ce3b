import tensorflow as tf
from google.protobuf import text_format
from npu_bridge.npu_init import *

config = tf.ConfigProto()
text_format.Merge(
    """
graph_options {
  rewrite_options {
    custom_optimizers {
      name: "NpuOptimizer"
      parameter_map { key: "precision_mode" value { s: "allow_mix" } }
      parameter_map { key: "hccl_timeot" value { i: 1800 } }
    }
  }
}
""",
    config,
)
with tf.Session(config=config) as sess:
    sess.run(train_op)

ENTRY = 'parameter_map { key: "graph_run_mode" value { i: 7 } }'
other = tf.ConfigProto()
custom_op = other.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
text_format.Parse(ENTRY, custom_op)
with tf.Session(config=other) as sess:
    sess.run(train_op)
