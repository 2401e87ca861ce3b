"""The run of a web framework returns; that of TensorFlow and of absl does not."""

import tensorflow as tf
from flask import Flask
from npu_bridge.npu_init import *

app = Flask(__name__)


class Server:
    def __init__(self):
        self.app = Flask(__name__)

    def serve(self):
        (npu_sess, npu_shutdown) = init_resource()
        self.app.run()
        shutdown_resource(npu_sess, npu_shutdown)
        close_session(npu_sess)


if __name__ == "__main__":
    (npu_sess, npu_shutdown) = init_resource()
    app.run(host="0.0.0.0")
    shutdown_resource(npu_sess, npu_shutdown)
    close_session(npu_sess)
