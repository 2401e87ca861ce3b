"""Checks of calls and imports of npu_bridge that are wrong as they are written."""

import ast
from typing import Iterator, List, Optional, Sequence, Tuple

from npu_config.catalogue.api import MODULES
from npu_config.core.diagnostics import Place, Severity
from npu_config.core.message import phrase
from npu_config.script.checks._check import Context, check
from npu_config.script.scopes import blocks
from npu_config.script.syntax import name_of

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

    ``npu_bridge.npu_init`` is one file, and nothing can be imported as ``npu_bridge.npu_init.x``;
    the line raises ModuleNotFoundError.

    Wrong:

        import npu_bridge.npu_init.npu_config_proto

    Right:

        from npu_bridge.npu_init import npu_config_proto
    """
    for node in context.script.nodes("npu_bridge"):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        else:
            continue
        for name in names:
            file = next((file for file in _FILES if name.startswith(file + ".")), None)
            if file is not None:
                rest = name[len(file) + 1 :]
                context.report(
                    phrase('{} is a file, and there is no module "{}" in it', file, rest),
                    _keyword(context, node),
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
    """``shutdown_system`` or ``initialize_system`` makes an operation that nothing runs.

    Both give back an operation of the graph, which a session has to run; the call alone starts
    and ends nothing.

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
            phrase(
                "{} gives back an operation, but {}; nothing runs it",
                name_of(call.func),
                phrase('nothing reads "{}"', name) if name else phrase("it is given to nothing"),
            ),
            context.place(call),
            help=phrase("run it: sess.run({})", name or "..."),
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
    """NPULossScaleOptimizer is not told that training is distributed.

    The optimizer is wrapped for several ranks, and ``is_distributed`` is left at False: a rank on
    which a step overflows passes over it, the others make it, and the loss scales drift apart.
    Speaks only where both are in the same statements, so that one is never without the other.

    Wrong:

        optimizer = npu_distributed_optimizer_wrapper(optimizer)
        optimizer = NPULossScaleOptimizer(optimizer, manager)

    Right:

        optimizer = npu_distributed_optimizer_wrapper(optimizer)
        optimizer = NPULossScaleOptimizer(optimizer, manager, is_distributed=True)
    """
    if not context.mentions(*_WRAPPERS) or not context.mentions("NPULossScaleOptimizer"):
        return
    for statements in _bodies(context):
        wrapped = {
            name
            for target, call in _assigned(statements, _WRAPPERS)
            for name in (target, _first_name(call))
            if name
        }
        for target, call in _assigned(statements, ("NPULossScaleOptimizer",)):
            if len(call.args) > 2 or any(isinstance(a, ast.Starred) for a in call.args):
                continue
            if any(keyword.arg in (None, "is_distributed") for keyword in call.keywords):
                continue
            if target in wrapped or _first_name(call) in wrapped:
                context.report(
                    "the optimizer is wrapped for distributed training, but "
                    "NPULossScaleOptimizer has no is_distributed=True; a step that overflows on "
                    "one rank is passed over by that rank alone",
                    context.place(call),
                    help="give it is_distributed=True when there are several ranks",
                )


def _bodies(context: Context) -> Iterator[Sequence[ast.AST]]:
    """Every list of statements that hold a loss-scale optimizer's line, each by itself."""
    pending: List[Sequence[ast.AST]] = [context.script.tree.body]
    pending += [function.body for function, _ in context.script.function_lines()]
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
            yield "" if target is None else _dotted(target), value


def _first_name(call: ast.Call) -> str:
    return _dotted(call.args[0]) if call.args else ""


def _dotted(node: ast.AST) -> str:
    """``optimizer`` or ``self.optimizer``; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    owner = _dotted(node.value) if isinstance(node, ast.Attribute) else ""
    return "{}.{}".format(owner, node.attr) if owner and isinstance(node, ast.Attribute) else ""
