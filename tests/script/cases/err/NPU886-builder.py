import npu_config as npu
import tensorflow as tf
from npu_bridge.npu_init import *

config = npu.NpuConfigBuilder().iteration_offload(10).build()
with tf.Session(config=config.to_config_proto(tf.ConfigProto())) as sess:
    sess.run(train_op)
