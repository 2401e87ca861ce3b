import tensorflow as tf
from npu_bridge.npu_init import *


def main(_):
    pass


if __name__ == "__main__":
    (npu_sess, npu_shutdown) = init_resource()
    tf.app.run()
    shutdown_resource(npu_sess, npu_shutdown)
    close_session(npu_sess)
