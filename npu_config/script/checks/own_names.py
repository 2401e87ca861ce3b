"""Names of npu_config itself that a script imports or reads, and that there are not."""

import ast
import os
from typing import Dict, Iterator, List, NamedTuple, Sequence, Tuple

from npu_config.catalogue.own_api import CONSTRUCTORS, METHODS, NAMES, TASKS
from npu_config.core.diagnostics import Place, Severity
from npu_config.core.message import listed, phrase
from npu_config.core.target import Product
from npu_config.script.checks._check import Context, check
from npu_config.script.neighbours import PACKAGE
from npu_config.script.own_calls import renaming
from npu_config.script.scopes import DEFINITIONS, last_line
from npu_config.script.source import spans
from npu_config.text.words import near

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
    """A name is imported from npu_config, or read of it, that there is not.

    Python raises ImportError or AttributeError when the script comes there.  A name that is like
    none is reported only where another import says that the module is this npu_config.

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
            _report(context, _places_of_import(context, found), "", NAMES, is_ours)
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
            place = context.place(node)
            column = (place.end_column or 1) - len(node.attr)
            at = place._replace(line=place.end_line, column=column)
            _report(context, [at], name or _PACKAGE, names, is_ours and not name)


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


def _report(
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
        phrase('{} has no "{}"', owner or _PACKAGE, name),
        places[0],
        help=None if meant else phrase("legal: {}", listed(legal)),
        fix=None if fixes[0] is None else fixes[0]._replace(edits=edits),
        meant=meant,
        consequence=phrase(
            "Python raises AttributeError" if owner else "the import raises ImportError"
        ),
    )
