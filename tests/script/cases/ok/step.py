import tensorflow as tf
from npu_bridge.npu_init import *
manager = FixedLossScaleManager(loss_scale=1024)
optimizer = NPULossScaleOptimizer(tf.train.AdamOptimizer(), manager)
step = tf.train.get_or_create_global_step()
epoch = tf.Variable(0, trainable=False)
loss = tf.square(tf.Variable(1.0))
update = optimizer.minimize(loss, step)
a = epoch.assign_add(1)
b = tf.assign_add(step, 0)
with tf.Session(config=npu_config_proto()) as sess:
    sess.run([update, a])
