import tensorflow as tf
from tensorflow.keras import backend as K, layers, models


def input_fn():
    return tf.data.Dataset.range(2).map(lambda x: tf.cast(x, tf.float32) + 0.0 * tf.zeros([1]))


for _ in range(2):
    K.clear_session()
    K.set_session(tf.compat.v1.Session(config=tf.compat.v1.ConfigProto(allow_soft_placement=True)))
    model = models.Sequential([layers.Dense(1, kernel_initializer="zeros", input_shape=(1,))])
    model.compile("sgd", "mse")
    model.fit([[1.0]], [[0.0]], verbose=0)
    print(float(model.predict([[2.0]])[0][0]))
