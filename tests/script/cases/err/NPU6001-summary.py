import tensorflow as tf
from npu_bridge.npu_init import *
import os

rank = int(os.getenv("RANK_ID", "0"))
is_chief = rank == 0
loss = tf.square(tf.Variable(1.0))
scalar = tf.summary.scalar("loss", loss)
merged = tf.compat.v1.summary.merge([scalar])
hooks = []
if is_chief:
    hooks.append(tf.train.SummarySaverHook(save_steps=10, summary_op=merged))


class Trainer:
    def __init__(self, sess):
        self.rank = get_rank_id()
        self.sess = sess
        self.summary = tf.summary.merge_all()

    def step(self, fetches, step):
        if self.rank == 0 and step % 10 == 0:
            return self.sess.run([loss, self.summary])
        return self.sess.run(loss)


with tf.Session(config=npu_config_proto()) as sess:
    fetches = [loss]
    if rank != 0:
        pass
    else:
        fetches.append(merged)
    sess.run(fetches)
    sess.run([loss, merged] if rank == 0 else [loss])
