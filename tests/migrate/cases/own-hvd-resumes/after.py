from npu_config.npu_init import *
import atexit
import tempfile
import tensorflow as tf

npu_sess, npu_shutdown = init_resource()
atexit.register(lambda: (shutdown_resource(npu_sess, npu_shutdown), close_session(npu_sess)))
folder = tempfile.mkdtemp() if get_npu_rank_id() == 0 else None
step = tf.train.get_or_create_global_step()
w = tf.Variable(2.0)
optimizer = npu_distributed_optimizer_wrapper(tf.train.GradientDescentOptimizer(0.1))
train = optimizer.minimize(w * w, global_step=step)
hooks = [NPUBroadcastGlobalVariablesHook(0), tf.train.StopAtStepHook(last_step=2)]
with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks, config=npu_config_proto(config_proto=tf.ConfigProto())) as sess:
    while not sess.should_stop():
        value = sess.run([train, w])[1]
print(round(float(value), 4))
