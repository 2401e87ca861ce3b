import tensorflow as tf
from npu_bridge.npu_init import *
class Trainer(object):
    def __init__(self):
        w = tf.get_variable("w", [3])
        self.optimizer = NPUDistributedOptimizer(tf.train.AdamOptimizer())
        self.train_op = self.optimizer.minimize(tf.reduce_mean(w))


def main():
    trainer = Trainer()
    with tf.Session(config=npu_config_proto()) as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(trainer.train_op)


if __name__ == "__main__":
    main()
