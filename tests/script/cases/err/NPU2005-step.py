import tensorflow as tf
from npu_bridge.npu_init import *
manager = FixedLossScaleManager(loss_scale=1024)
optimizer = NPULossScaleOptimizer(tf.train.AdamOptimizer(), manager)
step = tf.train.get_or_create_global_step()
other = tf.Variable(0, name="global_step", trainable=False)
loss = tf.square(tf.Variable(1.0))
update = optimizer.minimize(loss)
a = step.assign_add(1)
b = tf.compat.v1.assign_add(other, 1)


class Trainer:
    def __init__(self):
        self.step = tf.train.create_global_step()
        self.count = tf.assign(self.step, self.step + 1)


with tf.Session(config=npu_config_proto()) as sess:
    sess.run([update, a])
