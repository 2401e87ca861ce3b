import tensorflow as tf
import precision_tool.tf_config as npu_tf_config
from npu_bridge.npu_init import *

config = npu_tf_config.session_dump_config(tf.ConfigProto(), action="dump|prof")
for optimizer in config.graph_options.rewrite_options.custom_optimizers:
    optimizer.parameter_map["enable_dump_debug"].b = True
sess = tf.Session(config=config)
