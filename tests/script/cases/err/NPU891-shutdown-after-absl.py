from absl import (
    app,
    flags,
)
from npu_bridge.npu_init import *

flags.DEFINE_integer("steps", 10, "How many.")


def main(_):
    pass


if __name__ == "__main__":
    (npu_sess, npu_shutdown) = init_resource()
    app.run(main)
    shutdown_resource(npu_sess, npu_shutdown)
