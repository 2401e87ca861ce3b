"""Checks of names that a script uses or imports, and that there are not."""

import ast
import os
import re
from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple, cast

from npu_config.catalogue.api import EXPORT_VERSIONS, MODULES, NPU_INIT
from npu_config.catalogue.own_api import CONSTRUCTORS, METHODS, NAMES
from npu_config.core.diagnostics import Place, Severity
from npu_config.core.message import listed, phrase
from npu_config.core.names import NPU_OPTIMIZER
from npu_config.core.versions import SNAPSHOTS, Product
from npu_config.python_flow.scopes import (
    DEFINITIONS,
    FUNCTIONS,
    UNCLEAR,
    FunctionNode,
    Store,
    first_line,
    holds,
    imported,
    last_line,
    literal,
    name_of,
)
from npu_config.python_flow.source import spans
from npu_config.rules.tasks import TASKS
from npu_config.script.builders import renaming
from npu_config.script.checks._check import Context, check
from npu_config.script.neighbours import PACKAGE
from npu_config.text.words import near

_INTRODUCTION = "docs/en/tfadapter_1/apiref/session_config/introduction.md"
_INIT = "tf_adapter/python/npu_bridge/npu_init.py"

_ELSEWHERE = (
    "exec",
    "execfile",
    "globals",
    "locals",
    "builtins",
    "__builtin__",
    "__builtins__",
    "__dict__",
)
"""Words of scripts whose names may come from where no statement shows it."""

_UTIL = ("set_iteration_per_loop", "IterationPerLoop", "variable_initializer_in_host")
"""What only the module ``util`` of npu_bridge has."""

_STAR = phrase("from {} import *", NPU_INIT)

_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_CATCHING = ("NameError", "Exception", "BaseException", "StandardError")

Within = Tuple[FunctionNode, ...]


@check(
    "NPU837",
    Severity.ERROR,
    facts=("remapping-off",),
    source=(_INTRODUCTION, _INIT),
    whole=True,
)
def name_not_imported(context: Context) -> None:
    """A name of npu_bridge, or ``RewriterConfig``, is used but never imported.

    The line raises NameError.  ``from npu_bridge.npu_init import *`` imports these names; this
    line is often missing or commented out.  A use in a function that the script never calls is a
    warning.

    Wrong:

        import tensorflow as tf
        config.graph_options.rewrite_options.remapping = RewriterConfig.OFF

    Right:

        import tensorflow as tf
        from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig
        config.graph_options.rewrite_options.remapping = RewriterConfig.OFF

    Wrong:

        # from npu_bridge.npu_init import *
        sess = tf.Session(config=npu_config_proto())

    Right:

        from npu_bridge.npu_init import *
        sess = tf.Session(config=npu_config_proto())
    """
    if context.script.has_star_import:
        return
    names = {name for name in MODULES if _may_be_missing(context, name)}
    if context.mentions(*_UTIL) and _may_be_missing(context, "util"):
        names.add("util")
    if not names or context.mentions(*_ELSEWHERE):
        return
    bound = _bound(context.script.nodes("import", *names))
    if bound is None or names <= bound:
        return
    seen: Set[Tuple[str, Optional[FunctionNode]]] = set()
    for node, within in _reads(context, names - bound):
        key = (node.id, within[-1] if within else None)
        if key not in seen:
            seen.add(key)
            _report(context, node, within)


_ADAPTERS = ("npu_bridge", "npu_device", "npu_config")
_LOADERS = ("load_op_library", "load_library")
"""What may load the library of the adapter itself."""


@check(
    "NPU865",
    Severity.WARNING,
    facts=("custom-op-name",),
    source=(_INTRODUCTION,),
)
def adapter_not_imported(context: Context) -> None:
    """A program opens a session with an NpuOptimizer, but does not load the adapter.

    ``import npu_bridge`` registers the optimizer with TensorFlow.  Without this import TensorFlow
    does not know the name and ignores the entry: the graph runs on the CPU, without any message.
    (The script and the files that it imports are searched for the import; if one of these files
    cannot be found, nothing is reported.)

    Wrong:

        import tensorflow as tf
        config = tf.ConfigProto()
        custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
        if __name__ == "__main__":
            sess = tf.Session(config=config)

    Right:

        import tensorflow as tf
        from npu_bridge.npu_init import *
        config = tf.ConfigProto()
        custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
        if __name__ == "__main__":
            sess = tf.Session(config=config)
    """
    script = context.script
    if not script.is_program or any(script.imported(name) for name in _ADAPTERS):
        return
    for block in context.run.blocks:
        root = None if block.message is None else block.message.root
        if root is None or block.name != NPU_OPTIMIZER or block.built_in or root.foreign:
            continue
        if not any(use.kind == "session" for use in root.uses):
            continue
        if context.mentions(*_LOADERS) or context.imports_may_have(*_ADAPTERS):
            return
        context.report(
            block.place,
            'neither this script nor the modules that it imports load npu_bridge, so "{}" is not '
            "registered; the graph runs on the CPU",
            NPU_OPTIMIZER,
            guards=block.path,
            help=phrase("from {} import *", NPU_INIT),
        )


def _may_be_missing(context: Context, name: str) -> bool:
    """True for a name that the script uses, and that no line seems to import."""
    source = context.script.source
    found = False
    for number in source.mentions(name):
        imported = source.lines[number - 1].partition("import ")[2].partition("#")[0]
        if name in imported and "." + name not in imported:
            return False
        found = True
    return found


def _report(context: Context, node: ast.Name, within: Within) -> None:
    if node.id == "util":
        help = "from npu_bridge.estimator.npu import util"
    else:
        help = phrase("from {} import {}", MODULES[node.id], node.id)
    commented = _commented_import(context)
    if commented and MODULES.get(node.id, NPU_INIT) in (NPU_INIT, MODULES["RewriterConfig"]):
        help = phrase("uncomment line {}, or write: {}", commented, help)
    for function in within:
        if _is_never_called(context, function):
            context.report(
                node,
                "{} is not imported; the line raises NameError when something calls {}",
                node.id,
                function.name,
                help=help,
                severity=Severity.WARNING,
            )
            return
    context.report(node, "{} is not imported; the line raises NameError", node.id, help=help)


def _commented_import(context: Context) -> int:
    """The line of ``from npu_bridge.npu_init import *`` in a comment; 0: there is none."""
    for number, line in enumerate(context.script.source.lines, 1):
        text = line.lstrip()
        if text[:1] == "#" and text.lstrip("# \t").startswith(_STAR):
            return number
    return 0


def _is_never_called(context: Context, function: FunctionNode) -> bool:
    """True for a function of a program that nothing in it names."""
    if not context.script.is_program or function.decorator_list:
        return False
    for scope, node in context.script.functions:
        if node is function and isinstance(scope.node, ast.ClassDef):
            return False
    last = last_line(function)
    return all(
        function.lineno <= line <= last for line in context.script.source.mentions(function.name)
    )


def _bound(nodes: Iterable[ast.AST]) -> Optional[Set[str]]:
    """Every name that some parts of a script bind; None when that cannot be said."""
    names: Set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                if alias.name == "*":
                    return None
                names.add(alias.asname or alias.name.split(".")[0])
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            names.update(node.names)
        else:
            # Definitions, handlers of exceptions, patterns and type parameters.
            for field in ("name", "rest"):
                name = getattr(node, field, None)
                if isinstance(name, str):
                    names.add(name)
    return names


def _reads(context: Context, names: Set[str]) -> List[Tuple[ast.Name, Within]]:
    """Where names are read that must be there, in order, with the functions around them."""
    found: List[Tuple[ast.Name, Within]] = []
    constants = {
        name: stores
        for name, stores in context.script.module.stores.items()
        if name not in context.script.global_names
    }
    lines = context.script.source.lines_of(*names)
    pending: List[Tuple[ast.AST, Within]] = [(context.script.tree, ())]
    while pending:
        node, within = pending.pop()
        if isinstance(node, ast.Name) and node.id in names and node.id != "util":
            found.append((node, within))
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "util"
            and node.attr in _UTIL
            and "util" in names
        ):
            found.append((node.value, within))
        if isinstance(node, FUNCTIONS):
            within = (*within, node)
        pending.extend(
            (child, within)
            for child in _live(node, constants)
            if not isinstance(child, ast.stmt) or holds(lines, first_line(child), last_line(child))
        )
    return sorted(found, key=lambda pair: (pair[0].lineno, pair[0].col_offset))


def _live(node: ast.AST, constants: Dict[str, List[Store]]) -> Iterator[ast.AST]:
    """The parts of a node that are run, and whose NameError is not caught."""
    skipped: List[object] = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    if any(_catches(handler) for handler in getattr(node, "handlers", ())):
        skipped += node.body  # type: ignore[attr-defined]
    elif isinstance(node, (ast.If, ast.While)) and _is_false(node.test, constants):
        skipped += node.body
    for field in ("body", "orelse", "finalbody"):
        body = getattr(node, field, ())
        ends = [isinstance(part, _LEAVING) for part in body] if isinstance(body, list) else []
        if True in ends:
            skipped += body[ends.index(True) + 1 :]
    for child in ast.iter_child_nodes(node):
        if not any(child is part for part in skipped):
            yield child


def _is_false(test: ast.expr, constants: Dict[str, List[Store]]) -> bool:
    """True for a condition that is written to be false, there or where its name is bound."""
    if isinstance(test, ast.Name):
        stores = constants.get(test.id, ())
        if test.id == "TYPE_CHECKING" or len(stores) != 1 or stores[0].kind != "value":
            return test.id == "TYPE_CHECKING"
        test = cast(ast.expr, stores[0].node)
    value = literal(test)
    return name_of(test) == "TYPE_CHECKING" if value is UNCLEAR else not value


def _catches(handler: ast.ExceptHandler) -> bool:
    """True for a handler that a NameError may come to."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or name_of(kind) in _CATCHING for kind in kinds)


_PACKAGE = "npu_config"
_MEMBERS: Dict[str, Tuple[str, ...]] = {
    "NpuConfig": (*METHODS, *(name.partition(".")[2] for name in CONSTRUCTORS if "." in name)),
    "NpuConfigBuilder": (*TASKS, *METHODS),
    "Product": tuple(Product.__members__),
}
"""What the classes of npu_config are read for."""


class _Import(NamedTuple):
    """A name that a statement imports from npu_config; the empty one is the package itself."""

    node: ast.stmt
    name: str
    bound: str


@check("NPU869", Severity.ERROR, source=("docs/reference/python.md",), whole=True)
def own_name_unknown(context: Context) -> None:
    """A script uses a name that does not exist in npu_config.

    Python raises ImportError or AttributeError when it runs this line.  A name that is similar to
    no known name is reported only if another import shows that the module is this npu_config.

    Wrong:

        from npu_config import NpuConfigBilder

    Right:

        from npu_config import NpuConfigBuilder
    """
    if not context.mentions(_PACKAGE) or context.script.has_module(_PACKAGE):
        return
    imports = [found for found in _imports(context) if not _is_tried(context, found.node)]
    is_ours = any(found.name in NAMES for found in imports)
    for found in imports:
        if found.name and not _is_there(found.name):
            _report_unknown(context, _places_of_import(context, found), "", NAMES, is_ours)
        elif not found.name:
            _judge_members(context, found, NAMES, is_ours)
        elif found.name in _MEMBERS:
            _judge_members(context, found, _MEMBERS[found.name], False)


def _is_there(name: str) -> bool:
    """True for a public name and for a module of the package."""
    path = os.path.join(PACKAGE, name)
    is_module = os.path.isdir(path) or os.path.isfile(path + ".py")
    return name in NAMES or name.startswith("__") or is_module


def _imports(context: Context) -> Iterator[_Import]:
    for node in context.script.nodes(_PACKAGE):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == _PACKAGE:
                    yield _Import(node, "", alias.asname or _PACKAGE)
        elif isinstance(node, ast.ImportFrom) and node.module == _PACKAGE and not node.level:
            for alias in node.names:
                if alias.name != "*":
                    yield _Import(node, alias.name, alias.asname or alias.name)


def _is_tried(context: Context, node: ast.stmt) -> bool:
    """True for an import whose failure is caught."""
    return any(
        isinstance(other, ast.Try)
        and other.handlers
        and other.lineno < node.lineno
        and node.lineno <= last_line(other.body[-1])
        for other in context.script.nodes(_PACKAGE)
    )


def _places_of_import(context: Context, found: _Import) -> List[Place]:
    """Where a name is imported, and where it is read after that."""
    source = context.script.source
    places: List[Place] = []
    for line in range(found.node.lineno, last_line(found.node) + 1):
        for start, end in spans(found.name, source.lines[line - 1]):
            places.append(Place(source.path, line, start + 1, line, end + 1))
    nodes = context.script.nodes(found.name) if found.bound == found.name else ()
    names = [node for node in nodes if isinstance(node, ast.Name) and node.id == found.name]
    return [*places[:1], *map(context.place, names)]


def _judge_members(context: Context, found: _Import, legal: Sequence[str], is_ours: bool) -> None:
    """Report what is read of a module or class, where its name means nothing else."""
    nodes = list(context.script.nodes(found.bound))
    if any(_binds(node, found) for node in nodes):
        return
    for node in nodes:
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        owner: ast.expr = node.value
        name, names = found.name, legal
        if not name and isinstance(owner, ast.Attribute) and owner.attr in _MEMBERS:
            name, names = owner.attr, _MEMBERS[owner.attr]
            owner = owner.value
        is_there = node.attr in names or (
            node.attr.startswith("_") if name else _is_there(node.attr)
        )
        if isinstance(owner, ast.Name) and owner.id == found.bound and not is_there:
            at = context.script.source.place_of_name(node)
            _report_unknown(context, [at], name or _PACKAGE, names, is_ours and not name)


def _binds(node: ast.AST, found: _Import) -> bool:
    """True for what gives the name of an import another meaning."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        module = "" if isinstance(node, ast.Import) else (node.module or ".") + "."
        return any(
            (alias.asname or alias.name.split(".")[0]) == found.bound
            and not (module + alias.name + ".").startswith(_PACKAGE + ".")
            for alias in node.names
        )
    if isinstance(node, ast.Name):
        return node.id == found.bound and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.arg):
        return node.arg == found.bound
    return isinstance(node, DEFINITIONS) and node.name == found.bound


def _report_unknown(
    context: Context, places: List[Place], owner: str, legal: Sequence[str], is_ours: bool
) -> None:
    """Report a name at the first of its places; ``owner`` is empty for an import."""
    name = context.script.source.at(places[0])
    meant = near(name, legal)
    if meant is None and not is_ours:
        return
    is_used = meant is not None and not owner and context.mentions(meant)
    fixes = [None if is_used else renaming(place, name, meant) for place in places]
    edits = tuple(edit for fix in fixes if fix is not None for edit in fix.edits)
    context.report(
        places[0],
        '{} has no "{}"',
        owner or _PACKAGE,
        name,
        help=None if meant else phrase("legal: {}", listed(legal)),
        fix=None if fixes[0] is None else fixes[0]._replace(edits=edits),
        meant=meant,
        consequence=phrase(
            "Python raises AttributeError" if owner else "the import raises ImportError"
        ),
    )


@check(
    "NPU807",
    Severity.ERROR,
    source=("tf_adapter/python/npu_bridge/npu_init.py",),
    whole=True,
)
def import_not_in_version(context: Context) -> None:
    """A name is imported from npu_init that the adapter of the target version does not have.

    The import raises ImportError on the host.  This is reported only if a version is specified
    (``--target-cann``).

    Wrong, for CANN 5.0.2:

        from npu_bridge.npu_init import SetIterationsVarHook

    Right, for CANN 5.0.2:

        from npu_bridge.npu_init import NPUEstimator
    """
    if context.version is None:
        return
    for node in context.script.import_statements:
        for alias in node.names if imported(node) == [NPU_INIT] else ():
            versions = EXPORT_VERSIONS.get(alias.name)
            if versions is not None and not versions.has(context.version):
                context.report(
                    _place_of_name(context, node, alias.name),
                    'npu_init of {} has no "{}"; the name is available {}',
                    SNAPSHOTS[context.version],
                    alias.name,
                    versions,
                    help="use a version of the adapter that has this name",
                    consequence="the import raises ImportError",
                )


def _place_of_name(context: Context, node: ast.stmt, name: str) -> Place:
    """Where an import names something; Python below 3.10 does not say."""
    source = context.script.source
    line = next((line for line in source.mentions(name) if line >= node.lineno), None)
    found = line and re.search(r"\b{}\b".format(re.escape(name)), source.lines[line - 1])
    if not found or line is None:
        return Place(source.path, node.lineno, 1)
    return Place(source.path, line, found.start() + 1, line, found.end() + 1)
