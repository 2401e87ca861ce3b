import tensorflow as tf
from tensorflow.contrib.mixed_precision import LossScaleOptimizer
from tensorflow.contrib.mixed_precision.python import loss_scale_manager

SCALE = 8
w = tf.Variable(2.0)
half = tf.get_variable("half", [], tf.float16, trainable=False)
manager = loss_scale_manager.FixedLossScaleManager(SCALE)
first = LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.25), manager)
second = tf.train.experimental.MixedPrecisionLossScaleOptimizer(
    tf.train.GradientDescentOptimizer(0.25), loss_scale=SCALE)
third = tf.train.GradientDescentOptimizer(0.25)
loss_scale = 4.0
gradients = third.compute_gradients(w * w * 1.0 * loss_scale, [w])
by_hand = third.apply_gradients([(g / loss_scale, v) for g, v in gradients])
steps = [first.minimize(w * w), second.minimize(w * w), by_hand]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in steps:
        sess.run(step)
    print(sess.run(w))
