import tensorflow as tf
from horovod.tensorflow import init, rank, size as world
import horovod.tensorflow as hvd


def main(_):
    init()
    where = f"{rank()} of {hvd.size()}"
    optimizer = hvd.DistributedOptimizer(
        tf.train.GradientDescentOptimizer(0.1 * world()),  # the inner one
        name="outer",
        sparse_as_dense=True,
    )
    w = tf.Variable(1.0)
    train = optimizer.minimize(w * w)
    tf.train.get_or_create_global_step()
    hooks = [hvd.BroadcastGlobalVariablesHook(root_rank=0)]
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        sess.run(train)
        print(where, sess.run(w))
    hvd.shutdown()


if __name__ == "__main__": tf.app.run(main)
