"""The session is closed before the process ends, or on some way that goes on."""

import contextlib
import os
import sys

import tensorflow as tf
from npu_bridge.npu_init import *


def closed_before(sess, npu_shutdown):
    shutdown_resource(sess, npu_shutdown)
    close_session(sess)
    sys.exit(0)


def on_one_way(sess, failed):
    if failed:
        sys.exit(1)
    close_session(sess)


def in_a_loop(sess):
    for step in range(10):
        if step == 5:
            sys.exit(0)
    while True:
        exit(1)
    close_session(sess)


def caught(sess, npu_shutdown):
    try:
        tf.app.run()
    except SystemExit:
        print("done")
    shutdown_resource(sess, npu_shutdown)


def suppressed(sess):
    with contextlib.suppress(SystemExit):
        sys.exit(train())
    close_session(sess)


def expected(test, sess):
    with test.assertRaises(SystemExit):
        sys.exit(train())
    with sess:
        sys.exit(train())
    close_session(sess)


def in_the_end(sess):
    try:
        tf.app.run()
    finally:
        close_session(sess)


def defined_after(sess):
    def close():
        close_session(sess)

    sys.settrace(close)


def quit():
    """The script's own."""


def own_function(sess, other):
    quit()
    other.exit()
    close_session(sess)


if __name__ != "__main__":
    sys.exit("a program")
close_session(defined_after)
if __name__ == "__main__":
    tf.app.run()

    def close(sess):
        close_session(sess)
else:
    close_session(None)
