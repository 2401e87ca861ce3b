import tensorflow as tf

THREADS = 3
source = tf.train.slice_input_producer([[1, 2, 3, 4]], shuffle=False)[0]
first = tf.train.batch([source], 2, num_threads=2)
second = tf.train.batch([source], 2, THREADS)
with tf.Session() as sess:
    coordinator = tf.train.Coordinator()
    threads = tf.train.queue_runner.start_queue_runners(sess, coordinator)
    print(sess.run(first).shape, sess.run(second).shape)
    coordinator.request_stop()
    coordinator.join(threads)
