import tensorflow as tf
from npu_bridge.npu_init import *

model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
optimizer = npu_distributed_optimizer_wrapper(tf.keras.optimizers.SGD(0.1))
model.compile(optimizer, "mse")
model.fit(tf.ones([8, 2]), tf.ones([8, 1]), epochs=2)  # nothing to broadcast here
