import tensorflow as tf
import tensorflow.contrib.eager as tfe

tfe.enable_eager_execution()
print(tf.constant(1).numpy())
