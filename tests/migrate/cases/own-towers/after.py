from npu_config.npu_init import *
import tensorflow as tf

NUM_GPUS = 2
losses = []
for i in range(NUM_GPUS):
    with tf.device("/gpu:%d" % i):
        losses.append(tf.constant(float(i)))
for name in ["/gpu:0", "/gpu:1"]:
    with tf.device(name):
        losses.append(tf.constant(1.0))
for loss in losses:
    with tf.device(loss.device):
        loss + 1.0
with tf.device(lambda op: "/cpu:0"):
    total = tf.add_n(losses)
with tf.device("/cpu:0"), tf.device(None):
    total = total * 2
with tf.Session(config=npu_config_proto(config_proto=tf.ConfigProto(allow_soft_placement=True))) as sess:
    print(sess.run(total))
