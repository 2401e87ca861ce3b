"""Which statements of a script are worth running.

Most of a training script has nothing to do with the configuration.  A statement is *hot* when
one of its lines names something of npu_bridge, holds the name of a configuration, or calls a
function that has hot lines; all others are skipped, and what they bind is looked up when it is
asked for.
"""

import ast
import re
from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from npu_config.script.scopes import (
    FunctionNode,
    Scope,
    Watch,
    functions,
    holds,
    last_line,
)
from npu_config.script.source import Source, spans
from npu_config.script.vocabulary import SEEDS

_HOLDER = re.compile(
    r"(?<!\w)([A-Za-z_]\w*)\s*\.\s*"
    r"(?:graph_options|rewrite_options|custom_optimizers|parameter_map|session_config)\b"
)
_BOUND = re.compile(
    r"(?<!\w)([A-Za-z_]\w*)\s*=[^=\n]*?\b(?:custom_optimizers|parameter_map|NPURunConfig|ConfigProto|"
    r"npu_config_proto|npu_run_config_init|session_dump_config|estimator_dump_config|"
    r"update_custom_op|NpuConfigBuilder|ProfilingConfig|MemoryConfig|DumpConfig|"
    r"ExperimentalConfig|DynamicInputConfig|GraphMemoryOptimizeConfig|AttrValue|RewriterConfig|"
    r"GraphOptions)\s*[(.\[]"
)
_PASSED = re.compile(
    r"\b(?:config_proto|session_config|run_config|dump_config|profiling_config|memory_config|"
    r"experimental_config|dynamic_input_config|graph_options|rewrite_options)\s*=\s*"
    r"(?:self\.)?([A-Za-z_]\w*)\s*(?:[,)]|$)"
)
_GIVEN = re.compile(
    r"\b(?:npu_config_proto|npu_run_config_init|set_keras_session_npu_config|init_resource|"
    r"session_dump_config|update_custom_op|npu_clear_session)\s*\(\s*(?:\w+\s*=\s*)?"
    r"(?:self\.)?([A-Za-z_]\w*)\s*[,)]"
)
_PATTERNS = (_HOLDER, _BOUND, _PASSED, _GIVEN)
_ANCHORS = (
    "graph_options",
    "rewrite_options",
    "session_config",
    "config_proto",
    "run_config",
    "dump_config",
    "profiling_config",
    "memory_config",
    "experimental_config",
    "dynamic_input_config",
)
_READ = re.compile(
    r"\s*\.\s*(?!graph_options|rewrite_options|optimizer_options|name\b|"
    r"custom_optimizers|parameter_map|session_config|remapping|memory_optimization|"
    r"global_jit_level|allow_soft_placement|CopyFrom|MergeFrom|ParseFromString|add\b|items\b)\w"
)
"""What follows a holder of which only some other field is read."""

_MEMBER = re.compile(r"\s*\.\s*(\w+)")
_ASSIGNED = re.compile(r"\s*=[^=]")
_SELF = re.compile(r"(?<![\w.])self\s*\.\Z")
_NOT_HOLDERS = frozenset(("self", "cls", "tf", "tf1", "None", "True", "False", "tensorflow"))
_OPENING = re.compile(r"(?:Session|RunConfig|Estimator|_session)\s*\(")
_WITHOUT_CONFIG = re.compile(r"Session\s*\(.*,\s*None\s*\)")
_APP_RUN = re.compile(r"\bapp\s*\.\s*run\s*\(")


_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)


class Hot(NamedTuple):
    """A statement that is worth running: its number, and whether it names the NPU itself."""

    number: int
    statement: ast.stmt
    has_seed: bool


def _last_lines(statements: Sequence[ast.stmt]) -> Iterator[int]:
    """How far each statement of a body reaches: to the next one, for all that matters here."""
    for statement, following in zip(statements, statements[1:]):
        yield max(statement.lineno, following.lineno - 1)
    if statements:
        yield last_line(statements[-1])


class _Merged:
    """The hot lines as seen from a scope, for the names that it watched so far."""

    def __init__(self, lines: List[int]) -> None:
        self.lines = lines
        self.known = set(lines)
        self.words: Dict[str, Watch] = {}
        self.version = 0


class Relevance:
    """The hot lines of a script.

    Attributes:
        hot_functions: the functions with hot lines, with their scopes; those that no other one
            calls come first.
    """

    def __init__(self, source: Source, module: Scope) -> None:
        self.source = source
        self.hot_functions: List[Tuple[Scope, FunctionNode]] = []
        self._ids: Set[int] = set()
        self._merged: Dict[int, _Merged] = {}
        self._hot: Dict[int, Tuple[int, List[Hot]]] = {}
        lines: Set[int] = set()
        for word in SEEDS:
            lines.update(source.lines_with(word, within=True))
        for line in source.lines_with("Session", within=True):
            if _WITHOUT_CONFIG.search(source.lines[line - 1]):
                lines.add(line)
        self._seeds = sorted(lines)
        holders = self._holders(self._seeds)
        held: Set[int] = set()
        for word in holders:
            held.update(self._handled(word))
        lines.update(source.mentions("global_jit_level"))
        lines.update(line for line in held if _OPENING.search(source.lines[line - 1]))
        self._spread(lines, list(functions(module, module.body)))
        lines |= held
        self._lines = sorted(lines)

    def _handled(self, word: str) -> List[int]:
        """The lines that do more with a holder than to read some field of it."""
        lines = self.source.lines
        return [
            n
            for n in self.source.mentions(word)
            if not all(_READ.match(lines[n - 1], end) for _, end in spans(word, lines[n - 1]))
        ]

    def is_hot_function(self, node: ast.AST) -> bool:
        """True for a function that has hot lines."""
        return id(node) in self._ids

    def lines(self, scope: Scope) -> List[int]:
        """The hot lines, in order, as seen from a scope, which may watch names of its own."""
        if not scope.watched:
            return self._lines
        merged = self._merged.get(id(scope))
        if merged is None:
            merged = self._merged[id(scope)] = _Merged(self._lines)
        if merged.version != scope.version:
            for word, how in scope.watched.items():
                if merged.words.get(word) is not how:
                    merged.words[word] = how
                    merged.known.update(self._watched(word, how))
            merged.version = scope.version
            merged.lines = sorted(merged.known)
        return merged.lines

    def hot(self, scope: Scope, statements: Sequence[ast.stmt]) -> List[Hot]:
        """The statements of a body that are worth running."""
        version, found = self._hot.get(id(statements), (-1, []))
        if version != scope.version:
            lines = self.lines(scope)
            found = [
                Hot(index, statement, holds(self._seeds, statement.lineno, last))
                for index, (statement, last) in enumerate(zip(statements, _last_lines(statements)))
                if isinstance(statement, _LEAVING) or holds(lines, statement.lineno, last)
            ]
            self._hot[id(statements)] = (scope.version, found)
        return found

    def any_hot(self, scope: Scope, statements: Sequence[ast.stmt]) -> bool:
        """True when a body holds a hot line."""
        return bool(statements) and holds(
            self.lines(scope), statements[0].lineno, last_line(statements[-1])
        )

    def _watched(self, word: str, how: Watch) -> List[int]:
        if how is Watch.ALL:
            return self.source.mentions(word)
        if how is Watch.HANDLED:
            return self._handled(word)
        methods = {node.name for _, node in self.hot_functions}
        return [n for n in self.source.mentions(word) if self._calls(word, n, methods)]

    def _calls(self, word: str, number: int, methods: Set[str]) -> bool:
        line = self.source.lines[number - 1]
        members = (_MEMBER.match(line, end) for _, end in spans(word, line))
        return any(member is not None and member.group(1) in methods for member in members)

    def _holders(self, seeds: Iterable[int]) -> Set[str]:
        """The names that hold configurations."""
        words: Set[str] = set()
        anchored = set(seeds)
        for word in _ANCHORS:
            anchored.update(self.source.mentions(word))
        for line in anchored:
            text = self.source.lines[line - 1]
            for pattern in _PATTERNS:
                words.update(pattern.findall(text))
        return words - _NOT_HOLDERS

    def _spread(self, lines: Set[int], found: List[Tuple[Scope, FunctionNode]]) -> None:
        """Make functions with hot lines hot, and the lines that name such functions."""
        spans = [(node.lineno, last_line(node), scope, node) for scope, node in found]
        names = {}
        pending = sorted(lines)
        while pending:
            fresh: List[int] = []
            for line in pending:
                innermost: Optional[Tuple[int, int, Scope, FunctionNode]] = None
                for span in spans:
                    if span[0] <= line <= span[1] and (
                        innermost is None or span[0] >= innermost[0]
                    ):
                        innermost = span
                if innermost is None or id(innermost[3]) in self._ids:
                    continue
                scope, node = innermost[2], innermost[3]
                self._ids.add(id(node))
                self.hot_functions.append((scope, node))
                name = node.name
                if name == "__init__" and isinstance(scope.node, ast.ClassDef):
                    name = scope.node.name
                if name not in names:
                    names[name] = True
                    fresh += [n for n in self._callers(name, node.lineno) if n not in lines]
            lines.update(fresh)
            pending = fresh
        called = self._called(spans)
        self.hot_functions.sort(key=lambda pair: (id(pair[1]) in called, pair[1].lineno))

    def _called(self, spans: List[Tuple[int, int, Scope, FunctionNode]]) -> Set[int]:
        """The hot functions that another hot function names."""
        hot = [(first, last) for first, last, _, node in spans if id(node) in self._ids]
        called: Set[int] = set()
        for scope, node in self.hot_functions:
            name = node.name
            if name == "__init__" and isinstance(scope.node, ast.ClassDef):
                name = scope.node.name
            end = last_line(node)
            for line in self._callers(name, node.lineno):
                if not node.lineno <= line <= end and any(a <= line <= b for a, b in hot):
                    called.add(id(node))
                    break
        return called

    def _callers(self, name: str, defined: int) -> List[int]:
        lines, mentions = self.source.lines, self.source.mentions
        found = [n for n in mentions(name) if n != defined and _names(name, lines[n - 1])]
        if name == "main":
            found += [n for n in mentions("app") if _APP_RUN.search(lines[n - 1])]
        return found


def _names(name: str, line: str) -> bool:
    """True when a line names a function, bare or as one of ``self``, and does not assign it."""
    return any(
        not _ASSIGNED.match(line, end)
        and (line[start - 1 : start] != "." or _SELF.search(line[:start]))
        for start, end in spans(name, line)
    )
