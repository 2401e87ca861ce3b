"""Checks of calls of npu_bridge that raise with the arguments they are given."""

import ast
from typing import Any, Callable, Dict, Optional, Tuple

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.script.checks._check import Context, check, known
from npu_config.script.objects import Constructed, Message, Unknown
from npu_config.script.state import Call

_HOOKS = "tf_adapter/python/npu_bridge/estimator/npu/npu_hook.py"
_SCOPES = "tf_adapter/python/npu_bridge/npu_scope.py"
_ESTIMATOR_MODULE = "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py"
_OPTIMIZER = "tf_adapter/python/npu_bridge/estimator/npu/npu_optimizer.py"

Problem = Optional[Tuple[str, str]]


def _output_hook(call: Call) -> Problem:
    steps = known(call, "output_every_n_steps", 3)
    given = call.get("output_every_n_steps", 3) is not None
    if not given or (steps == 0 and type(steps) is int):
        return (
            phrase(
                "NPUOutputTensorHook divides by output_every_n_steps, which is 0"
                if given
                else "NPUOutputTensorHook divides by output_every_n_steps, which is 0 by default"
            ),
            "give output_every_n_steps, from 1 on",
        )
    return None


def _step_hook(call: Call) -> Problem:
    if known(call, "step", 0) is None and known(call, "loss", 2) is None:
        return (
            "TellMeStepOrLossHook takes step or loss, got neither; it raises ValueError",
            "give the name of the step or of the loss tensor",
        )
    return None


def _fixed_scale(call: Call) -> Problem:
    scale = known(call, "loss_scale", 0)
    if isinstance(scale, (int, float)) and not isinstance(scale, bool) and scale < 1:
        return (
            phrase(
                "FixedLossScaleManager takes a loss scale from 1 on, got {!r}; it raises "
                "ValueError",
                scale,
            ),
            "give a loss scale of at least 1",
        )
    return None


def _optimizer(call: Call) -> Problem:
    if known(call, "is_loss_scale", 3) is True and known(call, "loss_scale_manager", 1) is None:
        return (
            "NPUOptimizer(is_loss_scale=True) needs a loss_scale_manager; it raises ValueError",
            "give a FixedLossScaleManager or ExponentialUpdateLossScaleManager",
        )
    return None


def _limit_core(call: Call) -> Problem:
    given = call.get("op_vectorore_num", 1)
    value: Any = "0" if given is None else given[0]
    if isinstance(value, Unknown):
        return None
    if isinstance(value, str) and value.isdecimal() and int(value) > 0:
        return None
    return (
        phrase(
            "limit_core_num_scope takes op_vectorore_num as the text of a number from 1 on, got "
            "{}; it raises ValueError",
            phrase('its default "0"') if given is None else repr(value),
        ),
        'write op_vectorore_num="8"',
    )


_CALLS: Dict[str, Callable[[Call], Problem]] = {
    "NPUOutputTensorHook": _output_hook,
    "TellMeStepOrLossHook": _step_hook,
    "FixedLossScaleManager": _fixed_scale,
    "NPUOptimizer": _optimizer,
    "limit_core_num_scope": _limit_core,
}


@check(
    "NPU893",
    Severity.ERROR,
    facts=(
        "output-tensor-hook-steps",
        "tell-me-hook-args",
        "loss-scale-minimum",
        "loss-scale-manager-required",
        "run-config-limit-core-scope",
    ),
    source=(_HOOKS, _SCOPES, _OPTIMIZER),
)
def call_raises(context: Context) -> None:
    """A function of npu_bridge is called with arguments that it refuses.

    ``NPUOutputTensorHook`` divides by ``output_every_n_steps``, whose default is 0.
    ``TellMeStepOrLossHook`` needs ``step`` or ``loss``.  ``FixedLossScaleManager`` takes a scale
    from 1 on.  ``NPUOptimizer(is_loss_scale=True)`` needs a ``loss_scale_manager``.
    ``limit_core_num_scope`` refuses its own default.

    Wrong:

        hook = NPUOutputTensorHook(tensors=["loss:0"], output_fn=print)

    Right:

        hook = NPUOutputTensorHook(tensors=["loss:0"], output_fn=print, output_every_n_steps=10)
    """
    for call, _, guards in context.run.calls:
        judge = _CALLS.get(call.name)
        if judge is None or call.open or context.is_from_elsewhere(call.node.func, call.name):
            continue
        problem = judge(call)
        if problem is not None:
            context.report(problem[0], context.place(call.node), guards, help=problem[1])


@check(
    "NPU895",
    Severity.ERROR,
    facts=("session-config-positional-none",),
    source=("tf_adapter/python/npu_bridge/npu_init.py",),
)
def positional_config_is_none(context: Context) -> None:
    """``tf.Session(target, graph, None)`` after npu_init was imported.

    The session that npu_init puts in the place of TensorFlow's edits the configuration it is
    given by position, and fails on None.  Leaving it out is fine.

    Wrong:

        from npu_bridge.npu_init import *
        sess = tf.Session("", graph, None)

    Right:

        from npu_bridge.npu_init import *
        sess = tf.Session("", graph)
    """
    if not context.script.is_patched:
        return
    for call, _, guards in context.run.calls:
        if call.name in ("Session", "InteractiveSession") and len(call.args) > 2:
            value, node = call.args[2]
            if value is None:
                context.report(
                    "the configuration is None, given by position; the session of npu_init "
                    "raises AttributeError",
                    context.place(node),
                    guards,
                    help="leave it out",
                )


@check(
    "NPU898",
    Severity.ERROR,
    facts=("tailing-optimizer-equal",),
    source=("docs/en/tfadapter_1/apiref/session_config/performance_tuning.md",),
    also=("is_tailing_optimization",),
)
def tailing_optimization_differs(context: Context) -> None:
    """``is_tailing_optimization`` differs between the session and NPUOptimizer.

    The two must be equal; nothing checks it.

    Wrong:

        custom_op.parameter_map["is_tailing_optimization"].b = True
        optimizer = NPUOptimizer(optimizer, manager, is_distributed=True)

    Right:

        custom_op.parameter_map["is_tailing_optimization"].b = True
        optimizer = NPUOptimizer(
            optimizer, manager, is_distributed=True, is_tailing_optimization=True
        )
    """
    values = {
        block.entries["is_tailing_optimization"].value
        if "is_tailing_optimization" in block.entries
        else False
        for block in context.run.blocks
        if not block.built_in
    }
    if len(values) != 1 or any(block.open for block in context.run.blocks):
        return
    (value,) = values
    if not isinstance(value, bool):
        return
    for call, _, guards in context.run.calls:
        if call.name != "NPUOptimizer" or call.open:
            continue
        given = call.get("is_tailing_optimization", 4)
        other = False if given is None else given[0]
        if isinstance(other, bool) and other is not value:
            context.report(
                phrase(
                    "NPUOptimizer has is_tailing_optimization {}, but the option "
                    '"is_tailing_optimization" is {}; they must be equal',
                    other,
                    value,
                ),
                context.place(call.node if given is None else given[1]),
                guards,
                option="is_tailing_optimization",
                help="give both the same value",
            )


@check(
    "NPU894",
    Severity.ERROR,
    facts=("run-config-type",),
    source=(_ESTIMATOR_MODULE,),
)
def estimator_config_class(context: Context) -> None:
    """NPUEstimator is given a configuration that is not an NPURunConfig, or none.

    It raises ValueError, or TypeError for none.

    Wrong:

        NPUEstimator(model_fn=model_fn, config=tf.estimator.RunConfig(model_dir="out"))

    Right:

        NPUEstimator(model_fn=model_fn, config=NPURunConfig(model_dir="out"))
    """
    for made in context.run.constructed:
        if made.kind != "NPUEstimator":
            continue
        config = made.arguments.get("config")
        if config is None:
            node = made.node
            if not made.open and not (
                isinstance(node, ast.Call) and context.is_from_elsewhere(node.func, made.kind)
            ):
                context.report(
                    "NPUEstimator is given no config, which it needs; it raises TypeError",
                    made.place,
                    made.path,
                    help="write config=NPURunConfig(...)",
                )
            continue
        value = config.value
        wrong = None
        if isinstance(value, Constructed) and value.kind == "RunConfig":
            wrong = "a RunConfig"
        elif isinstance(value, Message):
            wrong = "a {}".format(value.kind)
        if wrong is not None:
            context.report(
                phrase("NPUEstimator takes an NPURunConfig, got {}; it raises", wrong),
                config.place,
                made.path,
                help="write NPURunConfig(...)",
            )
