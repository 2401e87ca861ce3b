"""What the other modules of a project bind, for a script that takes names from them."""

import ast
import functools
import os
import re
from typing import Dict, FrozenSet, List, Mapping, Optional, Set, Tuple

from npu_config.core.diagnostics import Diagnostic
from npu_config.migration.names import canonical
from npu_config.python_flow.scopes import Scope, Store, dotted_parts
from npu_config.python_flow.source import Undecodable, Unparsable, decode, parse
from npu_config.text.source import load

__all__ = ["OTHER", "REEXPORTED", "Neighbours", "may_borrow"]

OTHER = ""
"""Stands for whatever is not TensorFlow's, Keras's or Horovod's."""
REEXPORTED = frozenset(("tf", "tfv1", "tensorflow", "hvd", "horovod"))
"""The names for which it is worth reading another module."""

_BORROWING = re.compile(
    r"^[ \t]{0,80}from[ \t]{1,8}(?!npu_)[\w.]{1,200}[ \t]{1,8}import[ \t]{1,8}"
    r"(?:\*|[^\n#]{0,400}\b(?:tf|tfv1|hvd|tensorflow|horovod)\b)",
    re.M,
)
_LARGEST = 4 * 1024 * 1024
_DEEPEST = 6
Names = Mapping[str, FrozenSet[str]]


class Neighbours:
    """The modules that a script can import from its project.

    Args:
        folder: the directory of the script; None for a script that is no file.
        root: the directory of the project.
    """

    def __init__(self, folder: Optional[str] = None, root: Optional[str] = None) -> None:
        self.folder = folder
        self.root = root

    def names(self, module: str, level: int) -> Optional[Names]:
        """What a module binds: each name with the dotted names that it may stand for.

        None for a module that is not of the project, or that cannot be read.
        """
        path = self.path(module, level)
        return None if path is None else _bound(path, self.root, ())

    def path(self, module: str, level: int) -> Optional[str]:
        """The file of a module, None where the project has none."""
        if self.folder is None:
            return None
        base = self.folder
        for _ in range(level - 1):
            base = os.path.dirname(base)
        bases = [base] if level or self.root is None else [base, self.root]
        parts = module.split(".") if module else []
        for one in bases:
            for candidate in (
                os.path.join(one, *parts) + ".py",
                os.path.join(one, *parts, "__init__.py"),
            ):
                if os.path.isfile(candidate):
                    return os.path.abspath(candidate)
        return None


def may_borrow(text: str) -> bool:
    """True for a script that may take TensorFlow or Horovod from another module."""
    return ("tf" in text or "hvd" in text) and _BORROWING.search(text) is not None


@functools.lru_cache(maxsize=64)
def _bound(path: str, root: Optional[str], outer: Tuple[str, ...]) -> Optional[Names]:
    data = load(path, _LARGEST)
    if isinstance(data, Diagnostic) or len(outer) > _DEEPEST:
        return None
    try:
        tree = parse(decode(data).text)
    except (Undecodable, Unparsable, RecursionError):
        return None
    stores = Scope(tree, None).stores
    found: Dict[str, Set[str]] = {}
    for name, bindings in stores.items():
        if name == "*":
            for store in bindings:
                inner = _of_star(store, root, (*outer, path))
                if inner is None:
                    return None
                for key, values in inner.items():
                    found.setdefault(key, set()).update(values)
        elif not name.startswith("_"):
            found.setdefault(name, set()).update(_of_bindings(bindings, stores))
    return {name: frozenset(values) for name, values in found.items()}


def _of_star(store: Store, root: Optional[str], outer: Tuple[str, ...]) -> Optional[Names]:
    node = store.node
    assert isinstance(node, ast.ImportFrom)
    found = Neighbours(os.path.dirname(outer[-1]), root).path(node.module or "", node.level)
    if found is None or found in outer:
        return {}
    return _bound(found, root, outer)


def _of_bindings(bindings: List[Store], stores: Mapping[str, List[Store]]) -> Set[str]:
    found: Set[str] = set()
    for store in bindings:
        is_relative = isinstance(store.node, ast.ImportFrom) and store.node.level
        dotted = canonical(store.text) if store.kind == "import" and not is_relative else OTHER
        first, *rest = (dotted_parts(store.node) if store.kind == "value" else None) or [""]
        for outer in stores.get(first, ()):
            if outer.kind == "import":
                dotted = canonical(".".join([outer.text, *rest]))
        known = dotted.split(".")[0] in ("tensorflow", "horovod", "keras")
        found.add(dotted if known else OTHER)
    return found
