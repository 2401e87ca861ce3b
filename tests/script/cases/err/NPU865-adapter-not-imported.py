import tensorflow as tf


def main():
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
    with tf.Session(config=config) as sess:
        sess.run(train_op)


if __name__ == "__main__":
    main()
