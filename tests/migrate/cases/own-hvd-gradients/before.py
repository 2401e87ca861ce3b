import atexit
import tensorflow as tf
import horovod.tensorflow as hvd

hvd.init()
w = tf.Variable(2.0)
gradients = tf.gradients(w * w, [w])
train = tf.train.GradientDescentOptimizer(0.1).apply_gradients(zip(gradients, [w]))
atexit.register(lambda: None)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    print(sess.run(w), hvd.rank())
