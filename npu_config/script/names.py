"""Names: what they are bound to on the path that is being followed."""

import ast
import re
from typing import Any, List, Optional

from npu_config.script.constants import is_known
from npu_config.script.objects import Class, Function, Unknown
from npu_config.script.scopes import Store, Watch
from npu_config.script.source import ScriptSource
from npu_config.script.state import Again, Frame, Run, evaluate_in


def lookup(run: Run, name: str, line: int = 0) -> Any:
    """What a name is bound to where the path has come to.

    Args:
        run: the path.
        name: the name.
        line: where it is read; a function that binds it in later lines only has no value for it.
    """
    frame: Optional[Frame] = run.frame
    while frame is not None:
        if name in frame.variables:
            value = frame.variables[name]
            if isinstance(value, Unknown) or name not in run.script.global_names:
                return value
            return _local(name, frame) if is_known(value) and value is not None else value
        if frame is not run.module and name in frame.global_names:
            frame = frame.parent
            continue
        stores = frame.stores.get(name)
        if stores and frame is run.frame and frame is not run.module and _are_later(stores, line):
            return _local(name, frame)
        if stores:
            value = _bound_unseen(run, frame, name, stores)
            if value is not None:
                return value
        frame = frame.parent
    return "__main__" if name == "__name__" else run.script.reference(name)


def is_fixed(run: Run, name: str, value: Any) -> bool:
    """True when a name has its value from one import or fixed value, wherever a path goes."""
    if name in run.script.global_names:
        return False
    frame = run.frame
    while frame.parent is not None:
        if name in frame.variables or name in frame.stores or name in frame.scope.parameters:
            return False
        frame = frame.parent
    stores = frame.stores.get(name, ())
    if len(stores) != 1:
        return False
    kind, node, _ = stores[0]
    return kind == "import" or (kind == "value" and run.fixed.get(node) is value)


def _are_later(stores: List[Store], line: int) -> bool:
    """True when everything that binds a name comes after a line."""
    return all(0 < line < getattr(store.node, "lineno", 0) for store in stores)


def _local(name: str, frame: Frame) -> Unknown:
    return Unknown("{}@{}".format(name, frame.serial), (name,))


def _bound_unseen(run: Run, frame: Frame, name: str, stores: List[Store]) -> Any:
    """A binding whose statement was skipped, when there is but one; else unknown."""
    if name in run.script.global_names:
        return _local(name, frame)
    if all(store.kind == "import" for store in stores):
        found = run.script.reference(stores[-1].text)
        if len(stores) == 1:
            frame.variables[name] = found
        return found
    if len(stores) > 1:
        kinds = {store.kind for store in stores} if run.wanting else set()
        if kinds & {"value", "item"} and name not in frame.scope.watched:
            frame.scope.watch(name, Watch.ALL)
            raise Again
        return _local(name, frame)
    kind, node, _ = stores[0]
    if kind == "definition":
        frame.variables[name] = definition(frame, node)
        return frame.variables[name]
    unknown = _local(name, frame)
    if kind != "value":
        return unknown
    frame.variables[name] = unknown
    value = evaluate_in(run, frame, node)
    if isinstance(value, (list, dict)) and _is_changed(run.script.source, name):
        value = unknown
    frame.variables[name] = value
    return value


def _is_changed(source: ScriptSource, name: str) -> bool:
    """True when a list or dict may be changed after it was made."""
    pattern = re.compile(
        r"(?<!\w){}\s*(?:\.\s*(?:append|extend|insert|update|pop|setdefault|clear|remove)\b"
        r"|\[[^\[\]]*\]\s*[-+*/|&]?=(?!=))".format(re.escape(name))
    )
    return any(pattern.search(source.lines[line - 1]) for line in source.mentions(name))


def definition(frame: Frame, node: ast.AST) -> Any:
    """The function or class that a definition makes."""
    if isinstance(node, ast.ClassDef):
        return Class(node, frame.scope.child(node), frame)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return Function(node, frame.scope.child(node), frame)
    return Unknown("definition")
