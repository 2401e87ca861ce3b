"""What the parser of JSON gives: the value, where its parts are, and what was wrong."""

from typing import Any, NamedTuple, Tuple, Union

import attr

from npu_config.core.diagnostics import Diagnostic


@attr.s(slots=True, auto_attribs=True, eq=False)
class Node:
    """Where an object, an array or a text that is not strict stands.

    Anything else is the offset of its first character alone.  ``parts`` is a list of trees, or
    maps each key to the tree of the key and that of its value.
    """

    start: int
    end: int
    parts: Any


Tree = Union[int, Node]


class Outcome(NamedTuple):
    """The value (BROKEN when there is none), its tree, and what was wrong.

    ``complete`` says that all of the text was understood, though not all was right.
    """

    value: Any
    tree: Tree
    complete: bool
    diagnostics: Tuple[Diagnostic, ...]
