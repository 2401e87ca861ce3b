import tensorflow as tf

tf.config.optimizer.set_experimental_options({"constant_folding": True})
tf.compat.v1.config.optimizer.set_experimental_options(
    options={"auto_mixed_precision": False})  # the end
with tf.Session() as sess:
    print(sess.run(tf.reduce_all(tf.is_finite(tf.constant([1.0])))))
