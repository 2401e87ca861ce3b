import tensorflow as tf
from npu_bridge.npu_init import *

sess = tf.Session("", graph, None)
npu_sess, shutdown = init_resource()
