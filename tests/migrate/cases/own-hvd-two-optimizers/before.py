import tensorflow as tf
import horovod.tensorflow as hvd

hvd.init()
w = tf.Variable(2.0)
wrapped = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(0.1))
plain = tf.train.GradientDescentOptimizer(0.1)
penalty = tf.gradients(w * w * w, [w])
steps = [plain.apply_gradients(zip(penalty, [w])), wrapped.minimize(w * w)]
started = hvd.broadcast_global_variables(0)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in steps:
        sess.run(step)
    print(round(float(sess.run(w)), 4))
