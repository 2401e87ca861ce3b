import tensorflow as tf
from npu_bridge.npu_init import *

from npu_bridge.estimator.npu import util


def train(loss, batches):
    config = tf.ConfigProto(allow_soft_placement=True)
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["iterations_per_loop"].i = 10
    custom_op.parameter_map["enable_data_pre_proc"].b = True
    train_op = tf.train.AdamOptimizer().minimize(loss)
    loop = util.IterationPerLoop()
    train_op = loop.create_iteration_per_loop_var(train_op)
    supervisor = tf.train.Supervisor(logdir="model", init_op=tf.global_variables_initializer())
    with supervisor.managed_session(config=config) as sess:
        loop.load_iteration_per_loop_var(sess, 10)
        for step in range(100):
            sess.run(train_op)


if __name__ == "__main__":
    train(*build())
