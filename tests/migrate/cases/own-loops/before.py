import tensorflow as tf

w = tf.Variable(1.0)
optimizer = tf.train.GradientDescentOptimizer(0.1)
train = tf.group(optimizer.minimize(w * w), tf.no_op())
x = tf.placeholder(tf.float32)
fed = optimizer.minimize(w * x)
grow = tf.cond(w > 0, lambda: w + 1, lambda: w)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(4):
        sess.run(train)
    for _ in range(2):
        sess.run(fed, {x: 1.0})
    print(sess.run(grow) > 1)
