import tensorflow as tf
from npu_bridge.npu_init import *


def model_fn(features, labels, mode):
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features, 1))
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_or_create_global_step())
    train_op = tf.group(train_op, name="IterationOp")
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main(_):
    config = tf.ConfigProto(allow_soft_placement=True)
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["iterations_per_loop"].i = 10
    custom_op.parameter_map["enable_data_pre_proc"].b = True
    run_config = tf.estimator.RunConfig(model_dir="model", session_config=config)
    estimator = tf.estimator.Estimator(model_fn, config=npu_run_config_init(run_config))
    estimator.train(input_fn, steps=1000)


if __name__ == "__main__":
    tf.app.run()
