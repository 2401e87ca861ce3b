import tensorflow as tf
from npu_bridge.npu_init import *
import os

RANK = os.environ.get("RANK_ID")
w = tf.Variable(1.0)
total = hccl_ops.allreduce(w, "sum")
if RANK == "0":
    w2 = w + tf.nn.l2_loss(w)


def loss(logits):
    if get_rank_id() == 0:
        return tf.reduce_mean(logits)
    return logits


class Trainer:
    def __init__(self):
        self.rank = int(os.environ["RANK_ID"])
        self.mean = hccl_ops.allreduce(w, "sum") / 2

    def evaluate(self, sess):
        if self.rank == 0:
            print(sess.run(self.mean))


scale = tf.square(w) if int(RANK) == 0 else w
with tf.Session(config=npu_config_proto()) as sess:
    if not int(RANK):
        sess.run([total, w])
