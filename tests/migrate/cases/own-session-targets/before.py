import atexit
import tensorflow as tf

a, b = tf.Session(), 2
one: tf.Session = tf.Session()
last = tf.Session()
atexit.register(last.close)
print(a.run(tf.constant(1)), one.run(tf.constant(b)), last.run(tf.constant(3)))
one.close()
