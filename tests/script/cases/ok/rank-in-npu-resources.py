from npu_config.npu_init import *
import tensorflow as tf


def main(_):
    where = f"{get_npu_rank_id()} of {get_npu_rank_size()}"
    optimizer = npu_distributed_optimizer_wrapper(
        tf.train.GradientDescentOptimizer(0.1 * get_npu_rank_size()),  # the inner one
    )
    w = tf.Variable(1.0)
    train = optimizer.minimize(w * w)
    tf.train.get_or_create_global_step()
    hooks = [NPUBroadcastGlobalVariablesHook(0)]
    with tf.train.MonitoredTrainingSession(hooks=hooks, config=npu_config_proto()) as sess:
        sess.run(train)
        print(where, sess.run(w))


if __name__ == "__main__":
    with npu_resources():
        tf.app.run(main)
