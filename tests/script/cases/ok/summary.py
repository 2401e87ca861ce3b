import tensorflow as tf
from npu_bridge.npu_init import *
import os

rank = int(os.environ["RANK_ID"])
size = int(os.environ["RANK_SIZE"])
loss = tf.square(tf.Variable(1.0))
tf.summary.scalar("loss", loss)
merged = tf.summary.merge_all()
writer = tf.summary.FileWriter("logs") if rank == 0 else None
names = []
with tf.Session(config=npu_config_proto()) as sess:
    for step in range(10):
        text = sess.run(merged)
        if rank == 0:
            writer.add_summary(text, step)
            names.append(step)
        if size > 1:
            sess.run([loss, merged])
        if step % 10 == 0:
            sess.run(merged)
    if rank == 0:
        sess.run([loss, merged])
    else:
        sess.run(merged)
