import tensorflow as tf
from absl import app
from npu_bridge.npu_init import *


def main(_):
    (npu_sess, npu_shutdown) = init_resource()


if __name__ == "__main__":
    app.run(main)
    close_session(npu_sess)
