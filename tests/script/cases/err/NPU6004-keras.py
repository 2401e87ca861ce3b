import tensorflow as tf
from npu_bridge.npu_init import *
model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
set_keras_session_npu_config()
optimizer = KerasDistributeOptimizer(tf.keras.optimizers.SGD())
model.compile(optimizer, loss="mse")
model.fit([1.0], [1.0], callbacks=[])
