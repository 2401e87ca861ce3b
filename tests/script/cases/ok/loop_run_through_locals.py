"""Names and attributes that are read without being named."""

from npu_bridge.estimator.npu import util


def train(sess, optimizer):
    train_op = util.set_iteration_per_loop(sess, optimizer, 10)
    return locals()


class Trainer:
    def __init__(self, sess, optimizer):
        self.train_op = util.set_iteration_per_loop(sess, optimizer, 10)

    def run(self, sess, name):
        return sess.run(getattr(self, name))


class Other:
    def __init__(self, sess, optimizer):
        self.other_op = util.set_iteration_per_loop(sess, optimizer, 10)


if __name__ == "__main__":
    train(*build())
