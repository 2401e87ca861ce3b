from npu_config.npu_init import *
import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K

K.set_session(tf.Session(config=npu_config_proto(config_proto=tf.ConfigProto())))


class Trainer(object):
    def __init__(self):
        self.model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="zeros", input_shape=(1,))])
        self.model.compile("sgd", "mse")

    def train(self, x):
        return self.model.fit(x, x, verbose=0)


history = Trainer().train(np.zeros([2, 1], np.float32))
print(history.history["loss"])
