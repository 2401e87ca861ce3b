import tensorflow as tf
from npu_bridge.npu_init import *


def train(estimator, flags, input_fn):
    training_hooks = []
    if flags.horovod:
        training_hooks.append(NpuEmptyHook())
    training_hooks.append(LogHook(flags.batch_size))
    if flags.do_train:
        with tf.device("/cpu:0"):
            estimator.train(input_fn, hooks=npu_hooks_append(hooks_list=training_hooks))
        if flags.verbose:
            print(training_hooks[-1].total_time)
        print(training_hooks[-1].skipped)


def evaluate(estimator, hooks):
    hooks = npu_hooks_append(hooks)
    estimator.evaluate(hooks=hooks)
    return hooks[-1].time_list


callbacks = [LogCallback()] + [callback for callback in ()]
npu_callbacks_append(callbacks)
print(callbacks[-1].history)
