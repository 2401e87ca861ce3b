import tensorflow as tf

config = tf.ConfigProto()
optimizer = config.graph_options.rewrite_options.custom_optimizers.add()
optimizer.name = "MyOptimizer"
optimizer.parameter_map["level"].i = 3
sess = tf.Session(config=config)
