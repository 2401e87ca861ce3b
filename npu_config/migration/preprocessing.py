"""Functions that Datasets are given, and what must not be in them: variables and tables."""

import ast
from typing import Dict, List, NamedTuple, Optional, Set

from npu_config.migration import data
from npu_config.migration.work import CHANGED, Work
from npu_config.python_flow.module import Site
from npu_config.python_flow.scopes import (
    FunctionNode,
    Scope,
    argument,
    arguments,
    name_of,
    parameters,
)
from npu_config.script.vocabulary import TABLES

__all__ = ["after", "in_dataset_function"]

_MAPPING = (
    "map",
    "flat_map",
    "filter",
    "interleave",
    "map_and_batch",
    "parallel_interleave",
    "from_generator",
    "group_by_window",
    "map_with_legacy_function",
)


class _Given(NamedTuple):
    """The functions that Dataset methods are given: lambdas, and names of functions.

    ``objects`` are the names of what has them, or is bound to their arguments.
    """

    lambdas: List[ast.Lambda]
    names: Set[str]
    objects: Set[str]


def _given(work: Work) -> _Given:
    found: Optional[_Given] = work.script.cache.get("given")
    if found is not None:
        return found
    found = work.script.cache["given"] = _Given([], set(), set())
    for site in work.script.sites_of(_MAPPING):
        call = site.call
        if call is None or not (
            isinstance(site.node, ast.Attribute) or _is_tensorflow(work, site)
        ):
            continue
        for value in [*call.args[:1], *(k.value for k in call.keywords if k.arg)]:
            _add(work, site, value, found)
    found.names.discard("")
    _follow(work, found)
    return found


def _add(work: Work, site: Site, value: ast.expr, found: _Given) -> None:
    """Enter what a method is given: a lambda, a function, a method, an object that is called."""
    if isinstance(value, ast.Lambda):
        found.lambdas.append(value)
        found.names.update(
            name_of(part.func) for part in ast.walk(value) if isinstance(part, ast.Call)
        )
    elif isinstance(value, ast.Attribute):
        found.names.add(value.attr)
        found.objects.add(name_of(value.value))
    elif isinstance(value, ast.Name):
        found.names.add(value.id)
        found.objects.add(value.id)
        for inner in work.script.values(value, site.scope):
            if isinstance(inner, (ast.Call, ast.Lambda, ast.Attribute)):
                _add(work, site, inner, found)
    elif isinstance(value, ast.Call):
        found.names.update(name_of(part) for part in (value.func, *value.args[:1]))
        found.objects.update(name_of(part) for part in arguments(value))
        for part in value.args[:1]:
            if isinstance(part, ast.Attribute):
                found.objects.add(name_of(part.value))


def _follow(work: Work, found: _Given) -> None:
    """Add the functions of the script that those functions call."""
    script = work.script
    bodies: Dict[str, List[ast.AST]] = {}
    for scope, node in script.functions if found.names else ():
        bodies.setdefault(node.name, []).append(node)
        if node.name == "__call__" and isinstance(scope.node, ast.ClassDef):
            bodies.setdefault(scope.node.name, []).append(node)
    pending = [name for name in found.names if name in bodies]
    while pending:
        for body in bodies[pending.pop()]:
            called = {name_of(n.func) for n in ast.walk(body) if isinstance(n, ast.Call)}
            fresh = (called & set(bodies)) - found.names
            found.names.update(fresh)
            pending += fresh


def _is_tensorflow(work: Work, site: Site) -> bool:
    return (work.script.resolved(site) or "").startswith("tensorflow.")


def in_dataset_function(work: Work, site: Site) -> bool:
    """True inside of a function that a method of Dataset is given."""
    given = _given(work)
    lambdas = {id(node) for node in given.lambdas}
    return any(
        id(node) in lambdas or getattr(node, "name", None) in given.names for node in site.parents
    )


def _holder(site: Site) -> str:
    """The variable that the value of a call is bound to."""
    parent = site.parents[-2] if len(site.parents) > 1 else None
    if isinstance(parent, ast.Assign) and parent.value is site.parents[-1]:
        return name_of(parent.targets[0])
    return ""


def after(work: Work) -> None:
    """What flows into Datasets, and shapes that make old control flow matter."""
    _variables(work)
    _tables(work)
    _dynamic_shapes(work)


def _variables(work: Work) -> None:
    """Variables that are arguments of Dataset methods, or are used in their functions."""
    sites = work.script.calls_of("tensorflow.Variable", "tensorflow.get_variable")
    if not sites or work.script.words.isdisjoint(("Dataset", "data")):
        return
    values = [
        value
        for found in data.calls(work.script)
        if found.is_dataset
        for value in arguments(found.call)
    ]
    ids = {id(value) for value in values}
    names = {name_of(value) for value in values} | _names_read(work)
    for site in sites:
        if id(site.call) in ids or _holder(site) in names - {""}:
            work.manual(
                site.line,
                "variable-in-preprocessing",
                "a variable in the input pipeline: write a constant",
            )


def _called(scope: Scope, node: FunctionNode) -> str:
    """The name by which a function is given: that of its class for what calls its objects."""
    is_caller = node.name == "__call__" and isinstance(scope.node, ast.ClassDef)
    return getattr(scope.node, "name", "") if is_caller else node.name


def _names_read(work: Work) -> Set[str]:
    """The names that the functions read which Dataset methods are given."""
    given = _given(work)
    nodes: List[ast.AST] = list(given.lambdas)
    if given.names:
        found = work.script.functions
        nodes += [node for scope, node in found if _called(scope, node) in given.names]
    return given.objects.union(*map(_names_from_outside, nodes))


def _names_from_outside(function: ast.AST) -> Set[str]:
    """What a function reads and does not bind itself, defaults of its parameters included."""
    defaults = {name_of(value) for value in function.args.defaults}  # type: ignore[attr-defined]
    parts = [n for n in ast.walk(function) if isinstance(n, (ast.Name, ast.Attribute))]
    own = set(parameters(function.args))  # type: ignore[attr-defined]
    own.update(n.id for n in parts if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return defaults | {
        name_of(part)
        for part in parts
        if isinstance(part.ctx, ast.Load) and not (isinstance(part, ast.Name) and part.id in own)
    }


def _tables(work: Work) -> None:
    if work.script.words.isdisjoint(TABLES):
        return
    read = _names_read(work) - {""}
    for site in work.script.sites_of(TABLES):
        if site.call is None:
            continue
        name = work.script.resolved(site)
        if name is None or not name.startswith("tensorflow."):
            continue
        if in_dataset_function(work, site) or _holder(site) in read:
            work.manual(
                site.line,
                "table-in-preprocessing",
                "a table in the input pipeline: mix_compile_mode=True, and iterations_per_loop 1",
            )


def _dynamic_shapes(work: Work) -> None:
    """Placeholders of unknown size, where control flow of the old form makes them matter."""
    if not any(note.id == "control-flow-v1" and note.kind != CHANGED for note in work.notes):
        return
    names = ("tensorflow.placeholder", "tensorflow.placeholder_with_default")
    for site in work.script.calls_of(*names):
        shape = argument(site.call, "shape", 1) if site.call is not None else None
        if shape is None or getattr(shape, "value", 0) is None:
            work.manual(site.line, "dynamic-shape", "the shape is not known")
        elif any(
            getattr(element, "value", 0) is None
            for part in ast.walk(shape)
            for element in getattr(part, "elts", ())
        ):
            work.manual(site.line, "dynamic-shape", "a dimension is not known")
