import tempfile
import tensorflow as tf
import horovod.tensorflow as hvd

hvd.init()
folder = tempfile.mkdtemp() if hvd.rank() == 0 else None
step = tf.train.get_or_create_global_step()
w = tf.Variable(2.0)
optimizer = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(0.1))
train = optimizer.minimize(w * w, global_step=step)
hooks = [hvd.BroadcastGlobalVariablesHook(0), tf.train.StopAtStepHook(last_step=2)]
with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks, config=tf.ConfigProto()) as sess:
    while not sess.should_stop():
        value = sess.run([train, w])[1]
print(round(float(value), 4))
