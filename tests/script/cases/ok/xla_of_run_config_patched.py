import tensorflow as tf
from npu_bridge.npu_init import *
from npu_bridge.estimator.npu.npu_config import NPURunConfig
from npu_bridge.estimator.npu.npu_estimator import NPUEstimator


def session_config(use_xla):
    config = tf.ConfigProto(allow_soft_placement=True)
    if use_xla:
        config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    return config


def main(args):
    run_config = NPURunConfig(session_config=session_config(args.use_xla), model_dir="model")
    estimator = NPUEstimator(model_fn=model_fn, config=run_config)
    estimator.train(input_fn=input_fn, max_steps=1000)


if __name__ == "__main__":
    main(parse_args())
