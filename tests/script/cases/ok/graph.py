import tensorflow as tf
from npu_bridge.npu_init import *
import os

rank = int(os.environ["RANK_ID"])
size = int(os.environ["RANK_SIZE"])
tf.set_random_seed(rank)
w = tf.Variable(1.0)
total = hccl_ops.allreduce(w, "sum")
if size > 1:
    w2 = tf.square(w)
if rank == 0:
    start = tf.constant(0)
else:
    start = tf.constant(1)
if rank == 0:
    with tf.Graph().as_default():
        y = tf.square(tf.ones([2]))
        with tf.Session(config=npu_config_proto()) as sess:
            sess.run(y)
saver = tf.train.Saver()
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(total)
    if rank == 0:
        print(sess.run(w))
        saver.save(sess, "model")
    if rank == 0:
        sess.run([total, w])
    else:
        sess.run(total)
