"""Checks of calls and imports of npu_bridge: what raises, is never run, has no effect."""

import ast
import re
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from npu_config.catalogue.api import MODULES
from npu_config.core.diagnostics import Place, Severity
from npu_config.core.message import join, phrase
from npu_config.python_flow.scopes import (
    DEFINITIONS,
    blocks,
    dotted_parts,
    imported,
    is_main,
    literal,
    name_of,
    root_of,
)
from npu_config.script.checks._check import Context, check
from npu_config.script.objects import Constructed, Message, Unknown, Use
from npu_config.script.paths import Call
from npu_config.script.reading import options_of_run_config
from npu_config.script.vocabulary import RUN_CONFIGS
from npu_config.text.words import joined, shown

_HOOKS = "tf_adapter/python/npu_bridge/estimator/npu/npu_hook.py"
_SCOPES = "tf_adapter/python/npu_bridge/npu_scope.py"
_ESTIMATOR = "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py"
_OPTIMIZER = "tf_adapter/python/npu_bridge/estimator/npu/npu_optimizer.py"

Problem = Optional[Tuple[str, str]]


def _output_hook(call: Call) -> Problem:
    steps = call.value("output_every_n_steps", 3)
    given = call.get("output_every_n_steps", 3) is not None
    if not given or (steps == 0 and type(steps) is int):
        return (
            phrase(
                "NPUOutputTensorHook divides by output_every_n_steps, which is 0"
                if given
                else "NPUOutputTensorHook divides by output_every_n_steps, which is 0 by default"
            ),
            "pass output_every_n_steps of at least 1",
        )
    return None


def _step_hook(call: Call) -> Problem:
    if call.value("step", 0) is None and call.value("loss", 2) is None:
        return (
            "TellMeStepOrLossHook needs step or loss, got neither; the call raises ValueError",
            "pass the name of the step tensor or of the loss tensor",
        )
    return None


def _fixed_scale(call: Call) -> Problem:
    scale = call.value("loss_scale", 0)
    if isinstance(scale, (int, float)) and not isinstance(scale, bool) and scale < 1:
        return (
            phrase(
                "FixedLossScaleManager needs a loss scale of at least 1, got {!r}; the call "
                "raises ValueError",
                scale,
            ),
            "pass a loss scale of at least 1",
        )
    return None


def _optimizer(call: Call) -> Problem:
    if call.value("is_loss_scale", 3) is True and call.value("loss_scale_manager", 1) is None:
        return (
            (
                "NPUOptimizer(is_loss_scale=True) needs a loss_scale_manager; the call raises "
                "ValueError"
            ),
            "pass a FixedLossScaleManager or ExponentialUpdateLossScaleManager",
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
            "limit_core_num_scope needs op_vectorore_num as a string with a number of at "
            "least 1, got {}; the call raises ValueError",
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
    """A function of npu_bridge is called with arguments that it rejects.

    ``NPUOutputTensorHook`` divides by ``output_every_n_steps``, whose default is 0.
    ``TellMeStepOrLossHook`` needs ``step`` or ``loss``.  ``FixedLossScaleManager`` needs a loss
    scale of at least 1.  ``NPUOptimizer(is_loss_scale=True)`` needs a ``loss_scale_manager``.
    ``limit_core_num_scope`` rejects its own default.

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
            context.report(call.node, problem[0], guards=guards, help=problem[1])


@check(
    "NPU895",
    Severity.ERROR,
    facts=("session-config-positional-none",),
    source=("tf_adapter/python/npu_bridge/npu_init.py",),
)
def positional_config_is_none(context: Context) -> None:
    """``tf.Session(target, graph, None)`` is called after npu_init was imported.

    npu_init replaces tf.Session by a class that edits the configuration if it is passed by
    position, and fails on None.  A call without this argument works.

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
                    node,
                    "None is passed as the positional configuration argument; the session "
                    "of npu_init raises AttributeError",
                    guards=guards,
                    help="remove it",
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

    The two values must be equal, but nothing checks them.

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
                call.node if given is None else given[1],
                "NPUOptimizer has is_tailing_optimization {}, but the option "
                '"is_tailing_optimization" is {}; they must be equal',
                other,
                value,
                guards=guards,
                option="is_tailing_optimization",
                help="set both to the same value",
            )


@check(
    "NPU894",
    Severity.ERROR,
    facts=("run-config-type",),
    source=(_ESTIMATOR,),
)
def estimator_config_class(context: Context) -> None:
    """The configuration of NPUEstimator is not an NPURunConfig, or is missing.

    NPUEstimator raises ValueError, or TypeError if the configuration is missing.

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
                    made.place,
                    "NPUEstimator needs a config, but none is passed; the call raises TypeError",
                    guards=made.path,
                    help="write config=NPURunConfig(...)",
                )
            continue
        value = config.value
        wrong = None
        if isinstance(value, Constructed) and value.kind == "RunConfig":
            wrong = phrase("a {}", "RunConfig")
        elif isinstance(value, Message):
            wrong = phrase("a {}", value.kind)
        if wrong is not None:
            context.report(
                config.place,
                "NPUEstimator needs an NPURunConfig, got {}; the call raises an error",
                wrong,
                guards=made.path,
                help="write NPURunConfig(...)",
            )


_PRECISION = "docs/en/tfadapter_1/migration/performance_tuning/mixed_precision_training.md"
_HCCL = "docs/en/tfadapter_1/migration/others/init_collective_communication.md"
_INIT = "tf_adapter/python/npu_bridge/npu_init.py"

_FILES = frozenset(module for module in MODULES.values() if module.startswith("npu_bridge."))
"""Modules that are one file each: no module is below them."""

_WRAPPERS = ("npu_distributed_optimizer_wrapper", "NPUDistributedOptimizer")


@check(
    "NPU876",
    Severity.ERROR,
    source=(_INIT,),
    whole=True,
)
def import_below_a_module(context: Context) -> None:
    """A name of npu_bridge is imported as if it were a module.

    ``npu_bridge.npu_init`` is a single file, so nothing can be imported as
    ``npu_bridge.npu_init.x``; the line raises ModuleNotFoundError.

    Wrong:

        import npu_bridge.npu_init.npu_config_proto

    Right:

        from npu_bridge.npu_init import npu_config_proto
    """
    for node in context.script.import_statements:
        for name in imported(node):
            file = next((file for file in _FILES if name.startswith(file + ".")), None)
            if file is not None:
                rest = name[len(file) + 1 :]
                context.report(
                    _keyword(context, node),
                    '{} is a single file and has no submodule "{}"',
                    file,
                    rest,
                    help=phrase("from {} import {}", file, rest.partition(".")[0]),
                    consequence="the line raises ModuleNotFoundError",
                )


def _keyword(context: Context, node: ast.stmt) -> Place:
    """The place of the statement's first word; Python 3.7 does not say where imports end."""
    place = context.place(node)
    width = len("from" if isinstance(node, ast.ImportFrom) else "import")
    return place._replace(end_line=place.line, end_column=(place.column or 1) + width)


@check(
    "NPU877",
    Severity.WARNING,
    facts=("initialize-system-shutdown",),
    source=(_HCCL,),
    whole=True,
)
def shutdown_never_run(context: Context) -> None:
    """``shutdown_system`` or ``initialize_system`` creates an operation that is never run.

    Both functions return an operation of the graph, which a session must run; the call alone
    neither starts nor ends anything.

    Wrong:

        npu_shutdown = npu_ops.shutdown_system()
        sess.close()

    Right:

        npu_shutdown = npu_ops.shutdown_system()
        sess.run(npu_shutdown)
        sess.close()
    """
    for call in context.calls("shutdown_system", "initialize_system"):
        name = context.unread.name_of_result(call)
        if name is None or _owner(call) != "npu_ops":
            continue
        context.report(
            call,
            "{} returns an operation, but {}; the operation is never run",
            name_of(call.func),
            phrase('"{}" is never read', name)
            if name
            else phrase("the script does not use this operation"),
            help=phrase("run the operation: sess.run({})", name or "..."),
        )


def _owner(call: ast.Call) -> str:
    return name_of(call.func.value) if isinstance(call.func, ast.Attribute) else ""


@check(
    "NPU878",
    Severity.WARNING,
    facts=("loss-scale-distributed",),
    source=(_PRECISION,),
    whole=True,
)
def loss_scale_not_distributed(context: Context) -> None:
    """NPULossScaleOptimizer lacks ``is_distributed=True`` in distributed training.

    The optimizer is wrapped for several ranks, but ``is_distributed`` is False: if a step
    overflows on one rank, this rank skips the step, the other ranks do not, and the loss scales
    become different.  This is reported only if both calls are in the same block of statements, so
    that one never runs without the other.

    Wrong:

        optimizer = npu_distributed_optimizer_wrapper(optimizer)
        optimizer = NPULossScaleOptimizer(optimizer, manager)

    Right:

        optimizer = npu_distributed_optimizer_wrapper(optimizer)
        optimizer = NPULossScaleOptimizer(optimizer, manager, is_distributed=True)
    """
    if not context.mentions("NPULossScaleOptimizer"):
        return
    reported: Set[int] = set()

    def report(call: ast.Call) -> None:
        is_open = len(call.args) > 2 or any(isinstance(a, ast.Starred) for a in call.args)
        is_told = any(
            keyword.arg is None
            or (keyword.arg == "is_distributed" and literal(keyword.value) is not False)
            for keyword in call.keywords
        )
        if is_open or is_told or id(call) in reported:
            return
        reported.add(id(call))
        context.report(
            call,
            "the optimizer is wrapped for distributed training, but NPULossScaleOptimizer "
            "has no is_distributed=True; when a step overflows on one rank, only this rank "
            "skips the step",
            help="pass is_distributed=True when several ranks train",
        )

    for site in context.meaning.calls("NPULossScaleOptimizer"):
        call = site.node
        inner = context.meaning.result(site.scope, call.args[0]) if call.args else None
        around = site.parents[-1] if site.parents else None
        if _wraps(around) or (inner is not None and _wraps(inner.node)):
            report(call)
    for statements in _bodies(context):
        wrapped = {
            name
            for target, call in _assigned(statements, _WRAPPERS)
            for name in (target, _first_name(call))
            if name
        }
        for target, call in _assigned(statements, ("NPULossScaleOptimizer",)):
            if target in wrapped or _first_name(call) in wrapped:
                report(call)


def _wraps(node: Optional[ast.AST]) -> bool:
    return isinstance(node, ast.Call) and name_of(node.func) in _WRAPPERS


def _bodies(context: Context) -> Iterator[Sequence[ast.AST]]:
    """Every list of statements of the script, each by itself."""
    pending: List[Sequence[ast.AST]] = [context.script.tree.body]
    pending += [function.body for _, function in context.script.functions]
    while pending:
        statements = pending.pop()
        yield statements
        for statement in statements:
            pending.extend(blocks(statement))


def _assigned(
    statements: Sequence[ast.AST], names: Tuple[str, ...]
) -> Iterator[Tuple[str, ast.Call]]:
    """The assignments of calls of these functions, with the name that is assigned."""
    for statement in statements:
        value: Optional[ast.expr] = getattr(statement, "value", None)
        while isinstance(value, ast.Call) and name_of(value.func) not in names:
            # NPULossScaleOptimizer(...).minimize(loss)
            value = value.func.value if isinstance(value.func, ast.Attribute) else None
        if isinstance(value, ast.Call):
            target = statement.targets[-1] if isinstance(statement, ast.Assign) else None
            yield "" if target is None else ".".join(dotted_parts(target) or ()), value


def _first_name(call: ast.Call) -> str:
    return ".".join(dotted_parts(call.args[0]) or ()) if call.args else ""


_APPS = (
    "absl.app",
    "tensorflow.app",
    "tensorflow.compat.v1.app",
    "tensorflow.python.platform.app",
)
_LIBRARIES = ("tf", "tf1", "tensorflow", "absl")
_MANAGERS = frozenset(("Session", "InteractiveSession", "as_default", "device", "name_scope"))
"""Context managers that catch nothing."""

_SHUTDOWNS = ("shutdown_resource", "close_session")
_EXITS = ("exit", "_exit", "abort", "quit")


@check(
    "NPU891",
    Severity.WARNING,
    facts=("initialize-system-shutdown", "session-close"),
    source=("tf_adapter/python/npu_bridge/npu_init.py",),
    whole=True,
)
def shutdown_after_app_run(context: Context) -> None:
    """``shutdown_resource`` or ``close_session`` is called after ``tf.app.run`` or ``sys.exit``.

    tf.app.run ends the process when ``main`` returns, as sys.exit does: the lines after the call
    are never reached, under any condition.  Both raise SystemExit, which ``except Exception`` does
    not catch.

    Wrong:

        if __name__ == "__main__":
            (npu_sess, npu_shutdown) = init_resource()
            tf.app.run()
            shutdown_resource(npu_sess, npu_shutdown)

    Right:

        def main(_):
            (npu_sess, npu_shutdown) = init_resource()
            train()
            shutdown_resource(npu_sess, npu_shutdown)
            close_session(npu_sess)

        if __name__ == "__main__":
            tf.app.run()
    """
    if not context.mentions(*_SHUTDOWNS):
        return
    lost: Dict[_End, List[ast.Call]] = {}
    for statements in _bodies(context):
        for number, statement in enumerate(statements):
            end = _end_of(statement, context)
            if end is not None:
                lost.setdefault(end, []).extend(_shutdowns(statements[number + 1 :]))
                break
    seen: Set[int] = set()
    for (name, line, is_caught), calls in sorted(lost.items(), key=lambda item: item[0].line):
        calls = sorted((c for c in calls if id(c) not in seen), key=lambda call: call.lineno)
        if not calls:
            continue
        seen.update(id(call) for call in calls)
        names = sorted({name_of(call.func) for call in calls}, key=_SHUTDOWNS.index)
        context.report(
            calls[0],
            "{} are reached only after an exception; otherwise {} in line {} ends the process"
            if is_caught and len(names) > 1
            else "{} is reached only after an exception; otherwise {} in line {} ends the process"
            if is_caught
            else "{} are never reached: {} in line {} ends the process"
            if len(names) > 1
            else "{} is never reached: {} in line {} ends the process",
            join(" and ", names),
            name,
            line,
            help=phrase(
                "call them {}" if len(names) > 1 else "call it {}",
                phrase("at the end of main")
                if name == "app.run"
                else phrase("before line {}", line),
            ),
        )


def _shutdowns(statements: Sequence[ast.AST]) -> Iterator[ast.Call]:
    """The calls in statements, those of definitions left out."""
    pending = list(reversed(statements))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call) and name_of(node.func) in _SHUTDOWNS:
            yield node
        if not isinstance(node, (*DEFINITIONS, ast.Lambda)):
            pending.extend(reversed(list(ast.iter_child_nodes(node))))


class _End(NamedTuple):
    """What ends the process, and its line; ``is_caught``: not when an exception comes first."""

    name: str
    line: int
    is_caught: bool = False


def _end_of(statement: ast.AST, context: Context) -> Optional[_End]:
    """What certainly ends the process in a statement."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if _is_app_run(function, context):
            return _End("app.run", statement.lineno)
        if _is_exit(function, context):
            return _End(name_of(function), statement.lineno)
    elif isinstance(statement, ast.If):
        end = _end_in(statement.body, context)
        if is_main(statement.test) and not statement.orelse:
            return end
        return end if _end_in(statement.orelse, context) else None
    elif isinstance(statement, ast.With):
        managers = [name_of(getattr(item.context_expr, "func", item)) for item in statement.items]
        return _end_in(statement.body, context) if set(managers) <= _MANAGERS else None
    elif isinstance(statement, ast.Try):
        end = _end_in(statement.body, context)
        if end is None or any(map(_catches_exit, statement.handlers)):
            return None
        goes_on = not all(_leaves(each.body[-1], context) for each in statement.handlers)
        return end._replace(is_caught=end.is_caught or goes_on)
    return None


def _catches_exit(handler: ast.ExceptHandler) -> bool:
    """True for a handler that may catch SystemExit: that of Python's errors certainly does not."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return not all(
        isinstance(each, ast.Name) and (each.id == "Exception" or each.id.endswith("Error"))
        for each in kinds
    )


def _leaves(statement: ast.stmt, context: Context) -> bool:
    return isinstance(statement, ast.Raise) or _end_of(statement, context) is not None


def _end_in(statements: Sequence[ast.stmt], context: Context) -> Optional[_End]:
    ends = (_end_of(statement, context) for statement in statements)
    return next((end for end in ends if end is not None), None)


def _is_exit(function: ast.expr, context: Context) -> bool:
    """True for ``sys.exit``, ``os._exit``, ``os.abort``, and ``exit`` and ``quit`` of Python."""
    if isinstance(function, ast.Attribute):
        return name_of(function.value) in ("sys", "os") and function.attr in _EXITS
    return name_of(function) in ("exit", "quit") and not any(
        node.name == name_of(function) for _, node in context.script.functions
    )


def _is_app_run(function: ast.expr, context: Context) -> bool:
    """True for ``tf.app.run`` and absl's ``app.run``; web frameworks have one that returns."""
    if name_of(function) != "run" or not isinstance(function, ast.Attribute):
        return False
    owner = function.value
    if name_of(owner) != "app":
        return False
    if isinstance(owner, ast.Name):
        return not context.script.imported("app").isdisjoint(_APPS)
    return name_of(root_of(owner)) in _LIBRARIES


_OF_TENSORFLOW = re.compile(
    r"(?<!\w)(?:keras\.)?estimator\.(?:model_to_estimator|(?:(?:Baseline|BoostedTrees|DNN|Linear)\w*)?"
    r"(?:Estimator|Classifier|Regressor))\Z"
)
"""What makes an Estimator of TensorFlow, those with a model of their own included."""


def _plain_estimator(uses: Iterable[Use]) -> Optional[str]:
    """What makes an Estimator of TensorFlow of a RunConfig; None where more is done with it."""
    kinds = {use.kind for use in uses} - {"return", "npu_run_config_init"}
    found = [_OF_TENSORFLOW.search(kind) for kind in sorted(kinds)]
    return "tf." + found[0].group() if found and found[0] and all(found) else None


def of_plain_estimator(context: Context, message: Message) -> bool:
    """True when Estimators of TensorFlow, and nothing else, open the sessions of a ConfigProto."""
    owners = [*context.run.builders, *context.run.loaded]
    is_built = any(message.uses is owner.uses for owner in owners)
    if message.foreign and not is_built:
        return False
    kinds = {use.kind for use in context.uses(message.place)} - {"return", "npu_run_config_init"}
    made = [
        each
        for each in context.run.constructed
        if each.kind in RUN_CONFIGS and each.value("session_config") is message
    ]
    return (
        bool(made)
        and kinds <= RUN_CONFIGS
        and all(_plain_estimator(context.uses(each.place)) for each in made)
    )


def _given(made: Constructed) -> str:
    """The options that the arguments of a NPURunConfig carry, in words; empty for none."""
    names = list(options_of_run_config(made)) if not made.open else []
    return joined([shown(name) for name in names]) if names else ""


@check(
    "NPU870",
    Severity.WARNING,
    facts=("run-config-type", "iteration-estimator-hook"),
    source=(_ESTIMATOR,),
)
def run_config_of_plain_estimator(context: Context) -> None:
    """An NPURunConfig is passed to ``tf.estimator.Estimator``, which ignores its NPU options.

    NPUEstimator writes the options of NPURunConfig into the session.  An Estimator of TensorFlow
    uses only its ``session_config``: precision, dump, profiling and the loop keep their defaults,
    without any message.  This includes ready-made Estimators (``tf.estimator.DNNClassifier``) and
    the Estimator that ``tf.keras.estimator.model_to_estimator`` returns.  (The NPURunConfig of
    npu_config, which `npu-config run` provides, writes the options into ``session_config``.)

    Wrong:

        config = NPURunConfig(precision_mode="allow_mix_precision")
        estimator = tf.estimator.Estimator(model_fn=model_fn, config=config)

    Right:

        config = NPURunConfig(precision_mode="allow_mix_precision")
        estimator = NPUEstimator(model_fn=model_fn, config=config)
    """
    if any(name.startswith("npu_config") for name in context.script.imported("NPURunConfig")):
        return
    for made in context.run.constructed:
        maker = made.kind == "NPURunConfig" and _plain_estimator(context.uses(made.place))
        names = _given(made) if maker else ""
        if names:
            context.report(
                made.place,
                "{} of NPURunConfig has no effect: {} does not read the options of NPURunConfig",
                names,
                maker,
                guards=made.path,
                help="use NPUEstimator, or set the options in session_config",
            )
