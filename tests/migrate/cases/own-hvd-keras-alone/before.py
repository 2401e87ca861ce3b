import numpy as np
import tensorflow as tf
import horovod.tensorflow.keras as hvd

hvd.init()
model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="zeros", input_shape=(1,))])
model.compile("sgd", "mse")
model.fit(np.ones([2, 1]), np.zeros([2, 1]), verbose=0)
print(hvd.size())
