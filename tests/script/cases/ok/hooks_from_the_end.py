"""Items from the end of lists that npu_hooks_append did not extend, or that account for it."""

from npu_bridge.npu_init import *


def accounted_for(estimator):
    hooks = [LogHook()]
    estimator.train(hooks=npu_hooks_append(hooks_list=hooks))
    return hooks[-2].total_time, hooks[0], hooks[:-1]


def maybe_a_tuple(estimator, hooks):
    estimator.train(hooks=npu_hooks_append(hooks_list=hooks))
    return hooks[-1].total_time


def certainly_a_tuple(estimator):
    hooks = (LogHook(),)
    estimator.train(hooks=npu_hooks_append(hooks))
    return hooks[-1].total_time


def taken_before(estimator):
    hooks = [LogHook()]
    log_hook = hooks[-1]
    estimator.train(hooks=npu_hooks_append(hooks))
    return log_hook.total_time


def appended_behind(estimator):
    hooks = []
    npu_hooks_append(hooks)
    hooks.append(LogHook())
    estimator.train(hooks=hooks)
    return hooks[-1].total_time


def bound_anew(estimator):
    hooks = [LogHook()]
    estimator.train(hooks=npu_hooks_append(hooks))
    hooks = [LogHook()]
    estimator.evaluate(hooks=hooks)
    return hooks[-1].total_time


def on_another_way(estimator, npu):
    hooks = [LogHook()]
    if npu:
        estimator.train(hooks=npu_hooks_append(hooks))
    else:
        estimator.train(hooks=hooks)
        print(hooks[-1].total_time)
    if not npu:
        print(hooks[-1].total_time)


def a_copy(estimator):
    hooks = [LogHook()]
    estimator.train(hooks=npu_hooks_append(list(hooks)))
    estimator.train(hooks=npu or npu_hooks_append(hooks))
    return hooks[-1].total_time


def another_list(estimator, hooks):
    hooks = [LogHook()]
    estimator.train(hooks=npu_hooks_append(hooks))
    return estimator.hooks[-1].total_time, (lambda: hooks)()


def of_another_function():
    hooks = [LogHook()]
    return hooks[-1].total_time
