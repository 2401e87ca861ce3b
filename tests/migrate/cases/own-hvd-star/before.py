from horovod.tensorflow import *
import tensorflow as tf

init()
with tf.Session() as sess:
    print(rank(), sess.run(tf.constant(1)))
