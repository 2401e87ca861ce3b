from npu_bridge.estimator.npu import util


def train(sess, model, with_loop, FLAGS):
    while not model.finished:
        try:
            if with_loop and FLAGS.iterations > 1:
                train_op = util.set_iteration_per_loop(sess, model.train_op, 10)
                sess.run(train_op)
            else:
                sess.run(model.train_op)
        except StopIteration:
            break


def optimize(sess, optimizer):
    for step in range(100):
        sess.run(util.set_iteration_per_loop(sess, optimizer, 10))
