import tensorflow as tf

config = tf.ConfigProto()
optimizer = config.graph_options.rewrite_options.custom_optimizers.add()
optimizer.name = "TensorRTOptimizer"
optimizer.parameter_map["minimum_segment_size"].i = 3
optimizer.parameter_map["precision_mode"].s = tf.compat.as_bytes("FP16")
with tf.Session(config=config) as sess:
    sess.run(step)
