"""Situations whose code stands in another file: told where the script names the function."""

import ast

from npu_config.core.message import phrase
from npu_config.python_flow.scopes import name_of
from npu_config.script.checks._check import Context, recognises
from npu_config.script.checks.network import PYTHON, TANH, is_of_gelu
from npu_config.script.checks.pipeline import KERAS_VARIABLES, captured
from npu_config.script.elsewhere import Program
from npu_config.script.functions import DATASETS
from npu_config.situations import host, pipeline, shapes


@recognises(pipeline.variable_in_preprocessing, DATASETS)
def variable_captured_elsewhere(context: Context) -> None:
    """A function of another file that reads a variable of that file."""
    seen = set()
    for each in context.program("Variable", "get_variable", "get_or_create_global_step").given():
        for part, variable in captured(each.meaning, each.function):
            if id(part.node) in seen or each.meaning.makes(*variable, KERAS_VARIABLES):
                continue
            seen.add(id(part.node))
            context.report(
                phrase(
                    'a function of a dataset uses the variable "{}" ({}): it runs on the host, '
                    "the variable is initialised on the device",
                    name_of(part.node),
                    each.says(part.node),
                ),
                context.place(each.node),
            )
            break  # one finding for a function


@recognises(pipeline.keras_backend_variable_in_input, DATASETS)
def keras_variable_elsewhere(context: Context) -> None:
    """``keras.backend.zeros`` in a function of another file that a dataset is given."""
    for each in context.program("backend").given():
        for part in Program.inside(each):
            made = part.node.func if isinstance(part.node, ast.Call) else None
            if made is not None and each.meaning.tf(part.scope, made) in KERAS_VARIABLES:
                context.report(
                    phrase(
                        "keras.backend.{} makes a variable, and this one is part of the input "
                        "pipeline ({}): nothing initialises it on the host",
                        name_of(made),
                        each.says(part.node),
                    ),
                    context.place(each.node),
                )
                break


@recognises(shapes.host_function_on_hot_path, ("run", "minimize", "apply_gradients"))
def python_on_device_elsewhere(context: Context) -> None:
    """A function of another file that calls Python, at the first line that calls it."""
    others = context.program(*(name.rpartition(".")[2] for name in PYTHON))
    for site, each in others.called() if others.has_any and context.is_offloaded else ():
        if not context.meaning.in_network(site):
            continue
        for part in Program.inside(each):
            made = part.node.func if isinstance(part.node, ast.Call) else None
            name = None if made is None else each.meaning.tf(part.scope, made)
            if name in PYTHON:
                context.report(
                    phrase(
                        "tf.{} ({}) calls Python, which the device cannot run",
                        name,
                        each.says(part.node),
                    ),
                    context.place(site.node),
                    option="mix_compile_mode",
                )
                return


@recognises(host.slow_gelu, ("gelu",))
def gelu_elsewhere(context: Context) -> None:
    """A function of another file that writes gelu out, at the first line that calls it."""
    for site, each in context.program("044715").called():
        if not context.meaning.in_network(site):
            continue
        for part in Program.inside(each):
            call = part.node
            if (
                isinstance(call, ast.Call)
                and each.meaning.tf(part.scope, call.func) in TANH
                and is_of_gelu(each.meaning, part.scope, call)
            ):
                context.report(
                    phrase(
                        "gelu is written out ({}): about eight operators in place of "
                        "npu_unary_ops.gelu",
                        each.says(call),
                    ),
                    context.place(site.node),
                )
                return
