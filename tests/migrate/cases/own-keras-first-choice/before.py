import tensorflow as tf
try:
    import keras
except ImportError:
    keras = tf.keras

model = keras.Sequential()
