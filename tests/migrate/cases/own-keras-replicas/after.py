import tensorflow as tf
from tensorflow.keras.utils import multi_gpu_model

model = multi_gpu_model(tf.keras.Sequential([tf.keras.layers.Dense(1)]), gpus=2)
model.compile("sgd", "mse")
sess = tf.Session()
