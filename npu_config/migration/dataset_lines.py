"""Which lines and functions of a script may concern Datasets, before any is looked at."""

import ast
import re
from typing import Iterator, List, NamedTuple, Sequence, Set

from npu_config.migration.script import Script
from npu_config.python_flow.scopes import FunctionNode, Scope, blocks, holds

__all__ = ["Span", "method_lines", "relevant_functions"]

_METHODS = ("batch", "padded_batch", "shard", "shuffle", "map_and_batch", "shuffle_and_repeat")
_TAKING = (
    *("map", "flat_map", "filter", "repeat", "take", "skip", "prefetch", "window", "interleave"),
    *("from_tensors", "from_tensor_slices"),
)
_MAKING = frozenset(
    (
        *("Dataset", "TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset", "repeat"),
        *("CsvDataset", "SqlDataset"),
    )
)
_PLAIN_STATEMENTS = (ast.Expr, ast.Assign, ast.Return, ast.Import, ast.ImportFrom, ast.AugAssign)


def method_lines(script: Script) -> List[int]:
    """The lines with a method that matters."""
    words: Sequence[str] = _METHODS
    if not script.words.isdisjoint(("Variable", "get_variable")):
        words = (*_METHODS, *_TAKING)
    mentions, lines = script.source.mentions, script.source.lines
    found: Set[int] = set()
    for word in script.words.intersection(words):
        is_method = re.compile(r"(?:\.|^)\s*{}\s*(?:[(\\#]|$)".format(word)).search
        if "_and_" in word:
            found.update(mentions(word))
        else:
            found.update(line for line in mentions(word) if is_method(lines[line - 1]))
    return sorted(found)


class Span(NamedTuple):
    """A function with the lines that it can at most reach over."""

    first: int
    last: int
    scope: Scope
    node: FunctionNode


def _spans(scope: Scope, body: Sequence[ast.AST], end: int) -> Iterator[Span]:
    """The functions of a body, at any depth.

    A statement reaches at most to the next one, which is cheaper to know than its end.
    """
    for index, node in enumerate(body):
        kind = type(node)
        if kind in _PLAIN_STATEMENTS:
            continue
        first = getattr(node, "lineno", 0)
        last = end
        if index + 1 < len(body):
            last = max(first, getattr(body[index + 1], "lineno", end + 1) - 1)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield Span(first, last, scope, node)
            yield from _spans(scope.child(node), node.body, last)
        elif isinstance(node, ast.ClassDef):
            yield from _spans(scope.child(node), node.body, last)
        else:
            for inner in blocks(node):
                yield from _spans(scope, inner, last)


def relevant_functions(script: Script, lines: Sequence[int]) -> List[Span]:
    """The functions that hold one of some lines, make a Dataset, or mention such a function."""
    making = script.words & _MAKING
    lines = sorted({*lines, *(line for word in making for line in script.source.mentions(word))})
    left = list(_spans(script.module, script.tree.body, len(script.source.lines)))
    found: List[Span] = []
    while lines and left:
        fresh = [span for span in left if holds(lines, span.first, span.last)]
        left = [span for span in left if not holds(lines, span.first, span.last)]
        found += fresh
        mentions = script.source.mentions
        lines = sorted(line for span in fresh for line in mentions(span.node.name))
    return found
