"""The syntax tree of a bash script, by tree-sitter's grammar (extra ``cli``)."""

import functools
import re
import warnings
from typing import Any, Optional

from npu_config.core.diagnostics import Place

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")

Node = Any
"""A node of tree-sitter: ``type``, ``children``, ``start_byte`` and ``end_byte``."""


@functools.lru_cache(maxsize=None)
def parser() -> Optional[Any]:
    """Tree-sitter's parser of bash, when it is installed."""
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


class Script:
    """A parsed script.

    The grammar's own scanner asks the C library about every character and reads beyond its tables
    for some that are not ASCII.  It gets a letter in place of each of them, one byte for one
    character, so that its offsets are those of the text.

    Attributes:
        path: its file, for the places.
        within: the place of the command whose word the script is, for ``bash -c``.
        source: the text.
        data: what was parsed, a byte for each character of ``source``.
        root: the syntax tree.
    """

    __slots__ = ("data", "path", "root", "source", "tree", "within")

    def __init__(self, text: str, path: Optional[str], within: Optional[Place] = None) -> None:
        tool = parser()
        assert tool is not None
        self.path, self.within = path, within
        self.source = text.replace("\r\n", " \n")
        ascii_only = self.source if self.source.isascii() else _NOT_ASCII.sub("x", self.source)
        self.data = ascii_only.encode("ascii")
        self.tree = tool.parse(self.data)
        self.root = self.tree.root_node

    def text(self, node: Node) -> str:
        """The source of a node."""
        return self.source[node.start_byte : node.end_byte]

    def place(self, node: Node) -> Place:
        """Where a node is, in characters from 1."""
        if self.within is not None:
            return self.within
        line, column = node.start_point
        end_line, end_column = node.end_point
        return Place(self.path, line + 1, column + 1, end_line + 1, end_column + 1)
