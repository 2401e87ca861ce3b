import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("mode_{}_{}".format(1.5, None))
custom_op.parameter_map["dump_mode"].s = tf.compat.as_bytes("%d%s%.1f" % (10**3, True, 0.25))
with tf.Session(config=npu_config_proto(config_proto=config)) as sess:
    pass
