from npu_config.npu_init import *
import atexit
import tensorflow as tf

npu_sess, npu_shutdown = init_resource()
atexit.register(lambda: (shutdown_resource(npu_sess, npu_shutdown), close_session(npu_sess)))
w = tf.Variable(2.0)
wrapped = npu_distributed_optimizer_wrapper(tf.train.GradientDescentOptimizer(0.1))
plain = tf.train.GradientDescentOptimizer(0.1)
penalty = tf.gradients(w * w * w, [w])
steps = [plain.apply_gradients(zip(penalty, [w])), wrapped.minimize(w * w)]
started = tf.group(*[tf.assign(npu_var, hccl_ops.broadcast([npu_var], 0)[0]) for npu_var in tf.global_variables()])
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    for step in steps:
        sess.run(step)
    print(round(float(sess.run(w)), 4))
