import tensorflow as tf
from npu_bridge.estimator.npu import util


class Model:
    def train(self, steps):
        with tf.name_scope("Train"):
            self.initialize()
            if steps:
                loop_op = util.set_iteration_per_loop(self.session, self.train_op, 10)
                for step in range(steps):
                    self.session.run(loop_op)


def train(sess, train_op):
    with tf.device("/cpu:0"), tf.variable_scope("model", reuse=True), tf.control_dependencies([]):
        return util.set_iteration_per_loop(sess, train_op, 10)
