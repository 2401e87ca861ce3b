import os
import json as util
session = "mine"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

with tf.Session() as sess:
    print(sess.run(tf.constant(1)), util.dumps([session]))
