import tensorflow as tf

config = tf.ConfigProto(gpu_options={"allow_growth": True}, device_count=dict(GPU=0, CPU=1))
options = config.gpu_options
options.per_process_gpu_memory_fraction = 0.5
config.device_count["GPU"] = 0
config.graph_options.optimizer_options.global_jit_level = -1
with tf.Session(config=config) as sess:
    print(sess.run(tf.constant(1)))
