"""Strict JSON with places, for every JSON format of the runtime.

:func:`read` takes the fast road, the standard library's parser.  Only when the text is
not strict JSON, or when a place is asked for, does the parser of
:mod:`npu_config.text.json_parser` read it again; so a correct file costs little
more than ``json.loads``, and a wrong one yields every fault with its place.
"""

import json
from math import isinf
from typing import Any, List, Optional, Sequence, Tuple, Union

import attr

from npu_config.core.diagnostics import Diagnostic, Place, Severity
from npu_config.core.lazy import lazy_pattern
from npu_config.text.json_parser import MAX_DIGITS, JsonNode, Tree, parse, token_end
from npu_config.text.source import BROKEN, Places, Source

__all__ = ["BROKEN", "JsonReading", "read", "write"]

_PAIRED = lazy_pattern(r"\\u[dD][89a-fA-F]")


def _object(pairs: List[Tuple[str, Any]]) -> Any:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError
    return int(digits)


def _constant(name: str) -> Any:
    raise ValueError


def real(digits: str) -> float:
    """A number with a fraction or an exponent; ValueError for one beyond the largest."""
    number = float(digits)
    if isinf(number):
        raise ValueError
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=real, parse_constant=_constant
)


@attr.s(slots=True, auto_attribs=True, eq=False)
class JsonReading(Places):
    """What :func:`read` found.

    Attributes:
        value: the plain Python value, for rules to judge; what could not be read in it is
            :data:`BROKEN`, and so is the whole when there is none.  Check ``ok`` first when a
            broken text is to be left alone.
        diagnostics: what is wrong with the text as JSON, in no special order.
        complete: False when parts of the text were not understood; what seems to be missing may
            then be there.
        source: the text and its path.
    """

    source: Source
    value: Any
    _tree: Optional[Tree] = None
    complete: bool = True
    diagnostics: Tuple[Diagnostic, ...] = ()

    @property
    def ok(self) -> bool:
        """True when a strict parser reads the text."""
        return all(d.severity is not Severity.ERROR for d in self.diagnostics)

    def _found(self, path: Sequence[Union[str, int]]) -> Tuple[Optional[Tree], Tree]:
        """The trees of the key that ends ``path`` and of the value there, as far as it leads."""
        if self._tree is None:
            self._tree = parse(self.source, None).tree
        key: Optional[Tree] = None
        tree: Tree = self._tree
        for step in path:
            if not isinstance(tree, JsonNode):
                break
            if isinstance(tree.parts, dict):
                if step not in tree.parts:
                    break
                key, tree = tree.parts[step]
            else:
                if not isinstance(step, int) or not 0 <= step < len(tree.parts):
                    break
                key, tree = None, tree.parts[step]
        return key, tree

    def place(self, path: Sequence[Union[str, int]] = ()) -> Place:
        """Where the value at ``path`` stands.

        Args:
            path: keys and indices, e.g. ``("server_list", 0, "device", 3, "rank_id")``; where
                it leads nowhere, the place of the part around it is given.
        """
        return self._place(self._found(path)[1])

    def _place(self, tree: Tree) -> Place:
        if isinstance(tree, JsonNode):
            return self.source.place(tree.start, tree.end)
        return self.source.place(tree, token_end(self.source.text, tree))

    def key_place(self, path: Sequence[Union[str, int]]) -> Place:
        """Where the key that ends ``path`` stands; for an item of an array, the item."""
        key, tree = self._found(path)
        return self._place(tree if key is None else key)


def read(text: str, path: Optional[str] = None) -> JsonReading:
    """Read JSON: plain values, places on demand, every fault at once.

    Comments, trailing commas, single quotes and the like are reported, each with the edit
    that repairs it where there is one, and reading goes on.  Nesting beyond
    200 levels in a text with faults, numbers of more than 400 characters, and more than
    100 faults end it; of more than 10,000 comments that many are reported.

    Args:
        text: anything.
        path: the file it came from, for the diagnostics.

    Returns:
        A reading; never raises for any text.
    """
    source = Source(text, path)
    if not text.startswith("\ufeff") and _PAIRED.search(text) is None:
        try:
            return JsonReading(source, _DECODER.decode(text))
        except (ValueError, RecursionError):
            pass
    return JsonReading(source, *parse(source))


def write(value: Any) -> str:
    """Canonical JSON text: two blanks per level, non-ASCII as it is, a newline at the end."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
