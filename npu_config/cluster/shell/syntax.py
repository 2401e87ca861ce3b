"""The syntax tree of a bash script, by tree-sitter's grammar (extra ``cli``)."""

import functools
import warnings
from typing import Any, Optional

from npu_config.core.diagnostics import Place

Node = Any
"""A node of tree-sitter: ``type``, ``children``, ``start_byte`` and ``end_byte``."""


@functools.lru_cache(maxsize=None)
def _parser() -> Optional[Any]:
    try:
        import tree_sitter
        import tree_sitter_bash

        return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
    except ImportError:
        pass
    try:  # Python below 3.10
        import tree_sitter_languages

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return tree_sitter_languages.get_parser("bash")
    except ImportError:
        return None


def available() -> bool:
    """Whether a parser is installed."""
    return _parser() is not None


class Script:
    """A parsed script.

    Attributes:
        path: its file, for the places.
        data: the bytes that were parsed.
        root: the syntax tree.
    """

    __slots__ = ("data", "lines", "path", "root", "tree")

    def __init__(self, text: str, path: Optional[str]) -> None:
        parser = _parser()
        assert parser is not None
        self.path = path
        self.data = text.replace("\r\n", " \n").encode("utf-8", "replace")
        self.tree = parser.parse(self.data)
        self.root = self.tree.root_node
        self.lines = self.data.split(b"\n")

    def text(self, node: Node) -> str:
        """The source of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def place(self, node: Node) -> Place:
        """Where a node is, in characters from 1."""
        line, column = self._position(node.start_point)
        end_line, end_column = self._position(node.end_point)
        return Place(self.path, line, column, end_line, end_column)

    def _position(self, point: Any) -> Any:
        row, column = point
        before = self.lines[row][:column] if row < len(self.lines) else b""
        return row + 1, len(before.decode("utf-8", "replace")) + 1
