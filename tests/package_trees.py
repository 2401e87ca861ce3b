"""The modules of the package as trees: each is parsed once for all tests of its source."""

import ast
import functools
import gc
from pathlib import Path
from typing import List, NamedTuple

import npu_config

PACKAGE = Path(npu_config.__file__).parent


class Module(NamedTuple):
    """A module: its path below the package, its tree, and every node of that."""

    name: str
    tree: ast.Module
    nodes: List[ast.AST]

    @property
    def dotted(self):
        """``npu_config.proto.schema`` of ``proto/schema.py``."""
        parts = ("npu_config", *Path(self.name).with_suffix("").parts)
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.lru_cache(maxsize=None)
def modules():
    """Every module, in the order of their paths."""
    made = []
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        made.append(Module(path.relative_to(PACKAGE).as_posix(), tree, list(ast.walk(tree))))
    gc.freeze()  # a million objects that stay need not be looked through again
    return tuple(made)
