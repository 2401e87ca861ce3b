"""The operation is found by its name in the graph."""

from npu_bridge.estimator.npu import util


def train(sess, optimizer):
    util.set_iteration_per_loop(sess, optimizer, 10)
    sess.run(sess.graph.get_operation_by_name("IterationOp"))


if __name__ == "__main__":
    train(*build())
