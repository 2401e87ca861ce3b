import tensorflow as tf
from npu_bridge.npu_init import *


def build(d_op, g_op, first):
    if first:
        op = tf.group(d_op, name="IterationOp")
    else:
        op = tf.group(g_op, name="IterationOp")
    return op


def both(d_op, g_op):
    d_op = tf.group(d_op, name="IterationOp")
    g_op = tf.group(g_op, name="IterationOp")
    return d_op, g_op
