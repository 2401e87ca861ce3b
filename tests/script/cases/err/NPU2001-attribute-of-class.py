import tensorflow as tf
from npu_bridge.npu_init import *

KIND = tf.float64


class Base:
    kind = tf.float64


class Net(Base):
    kind = tf.float32
    other = KIND

    def __init__(self):
        self.x = tf.placeholder(self.kind, [2])
        self.y = tf.placeholder(dtype=self.other, shape=[2])


net = Net()
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(net.y, {net.y: [1.0, 2.0]})
