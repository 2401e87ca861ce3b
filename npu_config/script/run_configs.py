"""Attributes of NPURunConfig and of the objects in it that a script sets after it has made one.

Source: what the constructors keep, and under which names, is seen from outside.
"""

import ast
from typing import Any

from npu_config.catalogue.api import KEPT, PARAMETERS, READ_ONLY
from npu_config.core.diagnostics import Place, Severity
from npu_config.core.message import phrase
from npu_config.core.rule import declare
from npu_config.script.effects import UNFOLLOWED
from npu_config.script.objects import Argument, Constructed
from npu_config.script.paths import Run, used
from npu_config.text.words import near


@declare(
    "NPU8114",
    Severity.WARNING,
    source=("npu_bridge.estimator.npu.npu_config",),
)
def attribute_without_effect() -> None:
    """An attribute of an NPURunConfig is set that nothing reads, or that cannot be set.

    NPURunConfig keeps most of its arguments under a name of its own, and NPUEstimator reads that:
    a value that is assigned to another name is never read.  What belongs to
    tf.estimator.RunConfig, such as ``model_dir``, cannot be assigned: Python raises
    AttributeError.

    Wrong:

        run_config = NPURunConfig()
        run_config.precision_mode = "allow_mix_precision"

    Right:

        run_config = NPURunConfig(precision_mode="allow_mix_precision")
    """


def set_attribute(
    run: Run, owner: Constructed, name: str, value: Any, node: ast.expr, place: Place
) -> None:
    """``owner.name = value``.

    Args:
        run: the path.
        owner: an NPURunConfig, or an object that it is given.
        name: the attribute.
        value: what it is set to.
        node: what is written for it.
        place: where the name is.
    """
    used(run, value, "attribute")
    kind, argument = owner.kind, name.lstrip("_")
    parameters, kept = PARAMETERS.get(kind, ()), KEPT.get(kind)
    if kept is None:
        owner.open = True
        if argument in parameters:
            run.script.unfollowed[node] = UNFOLLOWED
        return
    if argument in parameters and name.startswith("_") is not (argument in kept):
        owner.arguments[argument] = Argument(value, run.place(node), place, node)
        return
    severity, consequence = Severity.WARNING, "the value is ignored"
    close = None if argument in parameters else near(argument, parameters)
    if name in READ_ONLY and name in parameters:
        severity, consequence = Severity.ERROR, "Python raises AttributeError"
        message = phrase('"{}" of {} cannot be set', name, kind)
    elif close is None and argument not in parameters:
        return
    else:
        message = phrase('nothing reads the attribute "{}" of {}', name, kind)
    found = attribute_without_effect.diagnostic(
        message,
        place,
        severity=severity,
        consequence=consequence,
        help=phrase("give it to the constructor: {}({}=...)", kind, close or argument),
    )
    run.refused.append((found, tuple(run.guards)))
