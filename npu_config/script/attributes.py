"""Attributes that a script sets or takes by name, those that it sets on an NPURunConfig, and
those of objects that only hold values.

Source: what the constructors keep, and under which names, is seen from outside.
"""

import ast
import re
from typing import Any

from npu_config.catalogue.api import KEPT, PARAMETERS, READ_ONLY
from npu_config.core.diagnostics import Place, Severity, declare
from npu_config.core.message import phrase
from npu_config.python_flow.source import spans
from npu_config.script import builders
from npu_config.script.effects import UNFOLLOWED, attribute, call_special, pass_on
from npu_config.script.methods import set_field
from npu_config.script.objects import (
    Argument,
    Constructed,
    Instance,
    Record,
    Subscript,
    Tracked,
    Unknown,
)
from npu_config.script.paths import Call, Run, anonymous, identity, used
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
    run.refuse(
        attribute_without_effect.diagnostic(
            message,
            place,
            severity=severity,
            consequence=consequence,
            help=phrase("give it to the constructor: {}({}=...)", kind, close or argument),
        )
    )


def set_by_name(run: Run, call: Call) -> Any:
    """``setattr(object, name, value)``."""
    if len(call.args) == 3:
        (owner, owner_node), (name, name_node), (value, node) = call.args
        is_named = isinstance(name, str)
        if isinstance(owner, Subscript):
            if is_named:
                target = ast.copy_location(
                    ast.Attribute(owner_node, name, ast.Store()), owner_node
                )
                set_field(run, owner, target, value, node)
            else:
                owner.block.open = True
            return None
        if isinstance(owner, Instance):
            if not call_special(run, owner, "__setattr__", [name, value]) and is_named:
                owner.attributes[name] = value
            return None
        if isinstance(owner, Constructed):
            if is_named:
                set_attribute(run, owner, name, value, node, run.place(name_node))
            else:
                owner.open = True
                run.script.unfollowed[call.node] = UNFOLLOWED
            return None
    pass_on(run, call)
    return None


def get_by_name(run: Run, call: Call) -> Any:
    """``getattr(object, "name")`` of an object that is followed."""
    values = [value for value, _ in call.args]
    if values and isinstance(values[0], builders.Builder):
        values[0].open = True
        run.script.unfollowed[call.node] = UNFOLLOWED
    if len(values) > 1 and isinstance(values[0], Tracked) and isinstance(values[1], str):
        return attribute(run, values[0], values[1], call.node)
    pass_on(run, call)
    named = ", ".join(map(identity, values))
    return Unknown("getattr({})".format(named), parts=(Unknown("getattr"), *values))


_NAMED = re.compile(r"\s*([A-Za-z_]\w*)\s*=[^=]")
_READ = re.compile(
    r"\s*\.\s*[A-Za-z_]\w*\b(?!\s*\()(?!(?:\s*\.\s*\w+)*\s*(?:[-+*/%|&]|//|\*\*)?=(?!=))"
)
"""What follows the name of an object of which an attribute is read."""


def record(run: Run, call: Call) -> Any:
    """``SimpleNamespace(...)``, ``HParams(...)``, ``EasyDict({...})`` of a program.

    Unknown where it is given no name, or more is done with it than to read its attributes.
    """
    source = run.script.source
    name = _NAMED.match(source.lines[call.node.lineno - 1])
    given = [value for value, _ in call.args]
    if name is None or call.open or not all(isinstance(each, dict) for each in given):
        return anonymous(call.node)
    is_read = all(
        _READ.match(source.lines[number - 1], end)
        for number in source.mentions(name.group(1))
        for _, end in spans(name.group(1), source.lines[number - 1])
        if number != call.node.lineno
    )
    if not is_read or not run.script.is_program:
        return anonymous(call.node)
    named = {key: value for key, (value, _) in call.keywords.items()}
    return Record({**(given[0] if given else {}), **named})


def set_past_the_class(run: Run, call: Call) -> Any:
    """``object.__setattr__(self, "name", value)``."""
    values = [value for value, _ in call.args]
    if len(values) == 3 and isinstance(values[0], Instance) and isinstance(values[1], str):
        used(run, values[2], "attribute")
        values[0].attributes[values[1]] = values[2]
    return None
