import horovod.tensorflow as hvd
import tensorflow as tf


def start():
    hvd.init()


def wrap(optimizer):
    return hvd.DistributedOptimizer(optimizer)
