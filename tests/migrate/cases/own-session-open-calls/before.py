import tensorflow as tf

given = {"graph": tf.get_default_graph()}
x = tf.constant(5)
with tf.Session(**given) as sess:
    print(sess.run(x))
empty = ()
with tf.Session(*empty) as sess:
    print(sess.run(x))
with tf.train.MonitoredSession(hooks=[]) as sess:
    print(sess.run(x))
with tf.Session(target="" if x is None else "") as sess:
    print(sess.run(x))
