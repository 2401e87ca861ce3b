"""The syntax tree of a bash script, by tree-sitter's grammar (extra ``cli``)."""

import functools
import re
import warnings
from typing import Any, Optional, Tuple

from npu_config.core.diagnostics import NOWHERE, Place
from npu_config.text.source import Source

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
    """

    __slots__ = (
        "_places",
        "data",
        "path",
        "source",
        "tree",
        "within",
    )

    def __init__(self, text: str, path: Optional[str], within: Optional[Place] = None) -> None:
        self.path, self.within = path, within
        self.source = text.replace("\r\n", " \n")
        ascii_only = self.source if self.source.isascii() else _NOT_ASCII.sub("x", self.source)
        self.data = ascii_only.encode("ascii")
        tool = parser()
        assert tool is not None
        self.tree = tool.parse(self.data)
        self._places = Source(self.source, path)

    @property
    def root(self) -> Node:
        """The syntax tree."""
        return self.tree.root_node

    def text(self, node: Node) -> str:
        """The source of a node."""
        return self.source[node.start_byte : node.end_byte]

    def spot(self, node: Node) -> "Spot":
        """Where a node is."""
        return self, node.start_byte, node.end_byte

    def place(self, begin: int, end: int) -> Place:
        """A part of the source, in characters from 1."""
        return self._places.place(begin, end) if self.within is None else self.within


Spot = Tuple[Script, int, int]
"""A part of a script; a place is made of it when it is asked for."""


def place_of(spot: Optional[Spot]) -> Place:
    """The place of a part of a script."""
    return NOWHERE if spot is None else spot[0].place(spot[1], spot[2])
