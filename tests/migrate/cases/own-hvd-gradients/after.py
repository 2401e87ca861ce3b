from npu_config.npu_init import *
import atexit
import tensorflow as tf

npu_sess, npu_shutdown = init_resource()
atexit.register(lambda: (shutdown_resource(npu_sess, npu_shutdown), close_session(npu_sess)))
w = tf.Variable(2.0)
gradients = tf.gradients(w * w, [w])
train = tf.train.GradientDescentOptimizer(0.1).apply_gradients(zip(gradients, [w]))
atexit.register(lambda: None)
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    print(sess.run(w), get_npu_rank_id())
