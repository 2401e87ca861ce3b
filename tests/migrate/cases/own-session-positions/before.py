import tensorflow as tf

graph = tf.Graph()
with graph.as_default():
    x = tf.constant(3)
options = tf.ConfigProto(allow_soft_placement=True)
with tf.Session("", graph, options) as sess:
    print(sess.run(x))
with tf.Session(
        '', graph=graph,  # no config
) as sess:
    print(sess.run(x))
with tf.Session("", graph, None) as sess:
    print(sess.run(x))
with tf.Graph().as_default(), tf.Session() as sess:
    print(sess.run(tf.constant(4)))
