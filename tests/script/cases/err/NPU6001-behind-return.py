import os

import tensorflow as tf
from npu_bridge.npu_init import *

rank = int(os.environ["RANK_ID"])
loss = tf.square(tf.Variable(1.0))
text = tf.summary.scalar("loss", loss)
fetches = {"loss": loss}
if rank == 0:
    fetches["text"] = text


def train(sess):
    if rank != 0:
        sess.run(loss)
        return
    sess.run([loss, text])


with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(fetches)
    train(sess)
