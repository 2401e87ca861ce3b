import os
import sys

import tensorflow as tf
from absl import app
from npu_bridge.npu_init import *


def with_sessions(args):
    sess, npu_shutdown = init_resource()
    if args.train:
        train()
        sys.exit(0)
    else:
        with tf.Session() as inner:
            evaluate(inner)
            os._exit(0)
    if args.npu:
        shutdown_resource(sess, npu_shutdown)
        close_session(sess)


def with_keras(npu_keras_sess):
    try:
        exit(train())
    finally:
        print("done")
    for sess in [npu_keras_sess]:
        close_session(sess)


if __name__ == "__main__":
    if os.environ.get("NPU"):
        npu_sess, npu_shutdown = init_resource()
    app.run(with_sessions)
    if os.environ.get("NPU"):
        shutdown_resource(npu_sess, npu_shutdown)
        close_session(npu_sess)

shutdown_resource(npu_sess, npu_shutdown)
