import tensorflow as tf
from npu_bridge.npu_init import npu_config_proto, npu_run_config_init
from npu_bridge.npu_init import set_keras_session_npu_config, init_resource, shutdown_resource

with tf.Session(config=npu_config_proto(config_proto=tf.ConfigProto())) as sess:
    sess.run("train")
keras_sess = set_keras_session_npu_config(config=tf.ConfigProto())
run_config = tf.estimator.RunConfig(model_dir="out", session_config=tf.ConfigProto())
estimator = tf.estimator.Estimator(model_fn, config=npu_run_config_init(run_config=run_config))
(npu_sess, npu_shutdown) = init_resource(config=tf.ConfigProto())
shutdown_resource(npu_sess, npu_shutdown)
