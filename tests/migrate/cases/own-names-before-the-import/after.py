import os
import json as util
session = "mine"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
from npu_config.npu_init import npu_config_proto
import tensorflow as tf

with tf.Session(config=npu_config_proto()) as sess:
    print(sess.run(tf.constant(1)), util.dumps([session]))
