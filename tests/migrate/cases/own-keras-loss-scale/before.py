import tensorflow as tf

optimizer = tf.keras.optimizers.SGD(0.1)
optimizer = tf.train.experimental.enable_mixed_precision_graph_rewrite(optimizer)
scaled = tf.keras.mixed_precision.experimental.LossScaleOptimizer(optimizer, "dynamic")
with tf.Session() as sess:
    print(1)
