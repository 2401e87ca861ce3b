"""Sessions that neither train nor use the model, that may not be opened, or that export it."""

import requests
import tensorflow as tf
from npu_bridge.npu_init import *

loss = build()
saver = tf.train.Saver()
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")


def decoded(path):
    with tf.Session() as sess:
        return sess.run(tf.image.decode_jpeg(tf.read_file(path)))


def printed():
    with tf.Session() as sess:
        print(sess.graph.get_operations())


def tables_and_local_variables(path):
    with tf.Session() as sess:
        sess.run([tf.tables_initializer(), tf.local_variables_initializer()])
        return sess.run(next_element)


def monitored_without_runs():
    with tf.train.MonitoredTrainingSession() as sess:
        print(sess.graph.get_operations())


def exported(path):
    with tf.Session() as sess:
        saver.restore(sess, path)
        tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, ["out"])


def maybe(path):
    if FLAGS.on_the_host:
        with tf.Session() as sess:
            saver.restore(sess, path)
    sess = tf.Session(config=config) if FLAGS.npu else tf.Session()
    saver.restore(sess, path)


def given_arguments(path, *arguments, **more):
    with tf.Session(*arguments) as sess:
        saver.restore(sess, path)
    with tf.Session(**more) as sess:
        saver.restore(sess, path)


def of_others():
    with requests.Session() as session:
        session.restore(session, "x")


def bound_again(path):
    sess = tf.Session()
    print(sess)
    sess = tf.Session(config=config)
    saver.restore(sess, path)


def data_of(batch):
    batch = batch.get_next()
    with tf.Session(config=config) as sess:
        sess.run(batch)


def other_data(batch):
    batch = batch.get_next()
    with tf.Session() as sess:
        sess.run(batch)


def on_cpu():
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())


if __name__ == "__main__":
    with tf.Session(config=config) as sess:
        sess.run(loss)
        with tf.Session() as other:
            saver.restore(sess, "x")
