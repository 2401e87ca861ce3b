import tensorflow as tf
from npu_bridge.npu_init import *


def make_config(FLAGS):
    chip = FLAGS.chip.lower()
    config = tf.ConfigProto()
    if chip == "cpu":
        pass
    elif chip == "gpu":
        config.gpu_options.allow_growth = True
    elif chip == "npu":
        custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
        if FLAGS.dump == "data":
            custom_op.parameter_map["enable_dump"].b = True
            custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes("/tmp/dump")
            custom_op.parameter_map["dump_step"].s = tf.compat.as_bytes("0")
        elif FLAGS.dump == "overflow":
            custom_op.parameter_map["enable_dump_debug"].b = True
            custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes("/tmp/dump")
        if FLAGS.loop:
            custom_op.parameter_map["iterations_per_loop"].i = 10
            custom_op.parameter_map["enable_data_pre_proc"].b = True
        else:
            custom_op.parameter_map["mix_compile_mode"].b = True
    else:
        raise RuntimeError("chip {} is not supported".format(chip))
    return config


def train(sess, train_op, FLAGS):
    if FLAGS.loop:
        train_op = util.set_iteration_per_loop(sess, train_op, 10)
    sess.run(train_op)
