"""Which statements of a script are worth running.

Most of a training script has nothing to do with the configuration.  A statement is *hot* when
one of its lines names something of npu_bridge, holds the name of a configuration, or calls a
function that has hot lines; all others are skipped, and what they bind is looked up when it is
asked for.
"""

import ast
import bisect
import re
from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from npu_config.catalogue.own_api import BUILDER_METHODS, CONFIG_METHODS, TASKS
from npu_config.script.scopes import (
    DEFINITIONS,
    FunctionNode,
    Nesting,
    Scope,
    Watch,
    first_line,
    functions,
    holds,
    last_line,
)
from npu_config.script.source import ScriptSource, spans
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
_METHODS = "|".join(
    (*TASKS, *BUILDER_METHODS, *CONFIG_METHODS, "entries", "refused", "side_files")
)
_READ = re.compile(
    r"\s*\.\s*(?!graph_options|rewrite_options|optimizer_options|name\b|"
    r"custom_optimizers|parameter_map|session_config|remapping|memory_optimization|"
    r"global_jit_level|allow_soft_placement|CopyFrom|MergeFrom|ParseFromString|add\b|items\b|"
    r"(?:{})\b)\w".format(_METHODS)
)
"""What follows a holder of which only some other field is read."""

_MEMBER = re.compile(r"\s*\.\s*(\w+)")
_ASSIGNED = re.compile(r"\s*=[^=]")
_SELF = re.compile(r"(?<![\w.])self\s*\.\Z")
_NOT_HOLDERS = frozenset(("self", "cls", "tf", "tf1", "None", "True", "False", "tensorflow"))
_OPENING = re.compile(r"(?:Session|RunConfig|Estimator|_session)\s*\(")
_SESSION = re.compile(r"Session\s*\(")
_NONE_LAST = re.compile(r",\s*None\s*\)")
_APP_RUN = re.compile(r"\bapp\s*\.\s*run\s*\(")


_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)


class Hot(NamedTuple):
    """A statement that is worth running: its number, and whether it names the NPU itself."""

    number: int
    statement: ast.stmt
    has_seed: bool


class _Body:
    """The statements of a body that do something when it is run: all but definitions."""

    def __init__(self, statements: Sequence[ast.stmt]) -> None:
        # Each reaches to the next one, for all that matters here.
        lasts = [first_line(following) - 1 for following in statements[1:]]
        lasts += map(last_line, statements[-1:])
        found = [pair for pair in zip(statements, lasts) if type(pair[0]) not in DEFINITIONS]
        self.statements = [statement for statement, _ in found]
        self.starts = [statement.lineno for statement in self.statements]
        self.lasts = [max(statement.lineno, last) for statement, last in found]
        self.leaving = [n for n, s in enumerate(self.statements) if isinstance(s, _LEAVING)]
        self.scope: Optional[Scope] = None
        self.version = 0
        self.hot: Dict[int, Optional[Hot]] = {}

    def next_in(self, lines: Sequence[int], position: int) -> int:
        """The number of the first statement from a position on that holds one of some lines."""
        while position < len(self.starts):
            index = bisect.bisect_left(lines, self.starts[position])
            if index == len(lines):
                break
            line = lines[index]
            number = max(bisect.bisect_left(self.lasts, line, position), position)
            if number == len(self.starts):
                break
            if self.starts[number] <= line:
                return number
            position = number
        return len(self.starts)


class _Watched:
    """The hot lines of a scope, which watched some names so far."""

    def __init__(self, lines: List[int]) -> None:
        self.lines = lines
        self.words: Dict[str, Watch] = {}
        self.version = 0

    def add(self, lines: Iterable[int]) -> None:
        """Add lines, most of which may be there."""
        for line in lines:
            index = bisect.bisect_left(self.lines, line)
            if index == len(self.lines) or self.lines[index] != line:
                self.lines.insert(index, line)


class Relevance:
    """The hot lines of a script.

    Attributes:
        functions: every function, with its scope.
        hot_functions: the functions with hot lines, with their scopes; those that no other one
            calls come first.
    """

    def __init__(self, source: ScriptSource, module: Scope) -> None:
        self.source = source
        self.hot_functions: List[Tuple[Scope, FunctionNode]] = []
        self._ids: Set[int] = set()
        self._watched: Dict[int, _Watched] = {}
        self._bodies: Dict[int, _Body] = {}
        lines: Set[int] = set()
        for word in SEEDS:
            lines.update(source.lines_with(word, within=True))
        for line in source.lines_with("Session", within=True):
            opening = _SESSION.search(source.lines[line - 1])
            if opening and _NONE_LAST.search(source.lines[line - 1], opening.end()):
                lines.add(line)
        self._seeds = sorted(lines)
        holders = self._holders(self._seeds)
        held: Set[int] = set()
        for word in holders:
            held.update(self._handled(word, source.mentions(word)))
        lines.update(source.mentions("global_jit_level"))
        lines.update(line for line in held if _OPENING.search(source.lines[line - 1]))
        self.functions = functions(module, module.body)
        self._spread(lines)
        self._methods = {node.name for _, node in self.hot_functions}
        lines |= held
        self._lines = sorted(lines)

    def _handled(self, word: str, numbers: Sequence[int]) -> List[int]:
        """The lines that do more with a holder than to read some field of it."""
        lines = self.source.lines
        return [
            n
            for n in numbers
            if not all(_READ.match(lines[n - 1], end) for _, end in spans(word, lines[n - 1]))
        ]

    def is_hot_function(self, node: ast.AST) -> bool:
        """True for a function that has hot lines."""
        return id(node) in self._ids

    def lines(self, scope: Scope) -> List[int]:
        """The hot lines, in order, as seen from a scope, which may watch names of its own."""
        if not scope.watched:
            return self._lines
        watched = self._watched.get(id(scope))
        if watched is None:
            watched = self._watched[id(scope)] = _Watched(_within(self._lines, scope))
        if watched.version != scope.version:
            for word, how in scope.fresh(watched.version):
                if watched.words.get(word) is not how:
                    watched.words[word] = how
                    watched.add(self._lines_of(word, how, scope))
            watched.version = scope.version
        return watched.lines

    def hot(self, scope: Scope, statements: Sequence[ast.stmt]) -> Iterator[Hot]:
        """The statements of a body that are worth running, as it is known when each comes."""
        body = self._bodies.get(id(statements))
        if body is None:
            body = self._bodies[id(statements)] = _Body(statements)
        position = 0
        while True:
            if body.version != scope.version or body.scope is not scope:
                body.version, body.scope = scope.version, scope
                body.hot.clear()
            if position not in body.hot:
                body.hot[position] = self._next_hot(scope, body, position)
            found = body.hot[position]
            if found is None:
                return
            yield found
            position = found.number + 1

    def _next_hot(self, scope: Scope, body: "_Body", position: int) -> Optional[Hot]:
        number = body.next_in(self.lines(scope), position)
        index = bisect.bisect_left(body.leaving, position)
        if index < len(body.leaving):
            number = min(number, body.leaving[index])
        if number == len(body.statements):
            return None
        has_seed = holds(self._seeds, body.starts[number], body.lasts[number])
        return Hot(number, body.statements[number], has_seed)

    def any_hot(self, scope: Scope, statements: Sequence[ast.stmt]) -> bool:
        """True when a body holds a hot line."""
        return bool(statements) and holds(
            self.lines(scope), statements[0].lineno, last_line(statements[-1])
        )

    def _lines_of(self, word: str, how: Watch, scope: Scope) -> List[int]:
        lines = _within(self.source.mentions(word), scope)
        if how is Watch.ALL:
            return lines
        if how is Watch.HANDLED:
            return self._handled(word, lines)
        return [n for n in lines if self._calls(word, n, self._methods)]

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

    def _spread(self, lines: Set[int]) -> None:
        """Make functions with hot lines hot, and the lines that name such functions."""
        nesting = Nesting(
            (node.lineno, last_line(node), (scope, node)) for scope, node in self.functions
        )
        callers: Dict[str, List[int]] = {}
        pending = sorted(lines)
        while pending:
            fresh: List[int] = []
            for line in pending:
                for scope, node in nesting.around(line):
                    if id(node) not in self._ids:
                        self._ids.add(id(node))
                        self.hot_functions.append((scope, node))
                        name = _called_name(scope, node)
                        if name not in callers:
                            callers[name] = self._callers(name, node.lineno)
                            fresh += [n for n in callers[name] if n not in lines]
                    break
            lines.update(fresh)
            pending = fresh
        called = {
            id(node)
            for scope, node in self.hot_functions
            if self._is_called(
                node, self._callers(_called_name(scope, node), node.lineno), nesting
            )
        }
        self.hot_functions.sort(key=lambda pair: (id(pair[1]) in called, pair[1].lineno))

    def _is_called(
        self,
        function: FunctionNode,
        lines: Sequence[int],
        nesting: Nesting[Tuple[Scope, FunctionNode]],
    ) -> bool:
        """True when another hot function names a function."""
        return any(
            id(node) in self._ids
            for line in lines
            if not function.lineno <= line <= last_line(function)
            for _, node in nesting.around(line)
        )

    def _callers(self, name: str, defined: int) -> List[int]:
        lines, mentions = self.source.lines, self.source.mentions
        found = [n for n in mentions(name) if n != defined and _names(name, lines[n - 1])]
        if name == "main":
            found += [n for n in mentions("app") if _APP_RUN.search(lines[n - 1])]
        return found


def _within(lines: List[int], scope: Scope) -> List[int]:
    """Those of some lines, which are in order, that are in a scope."""
    if scope.parent is None:
        return list(lines)
    first, last = first_line(scope.node), last_line(scope.node)
    return lines[bisect.bisect_left(lines, first) : bisect.bisect_right(lines, last)]


def _called_name(scope: Scope, node: FunctionNode) -> str:
    """The name by which a function is called: that of its class for a constructor."""
    is_constructor = node.name == "__init__" and isinstance(scope.node, ast.ClassDef)
    return (
        scope.node.name if is_constructor and isinstance(scope.node, ast.ClassDef) else node.name
    )


def _names(name: str, line: str) -> bool:
    """True when a line names a function, bare or as one of ``self``, and does not assign it."""
    return any(
        not _ASSIGNED.match(line, end)
        and (line[start - 1 : start] != "." or _SELF.search(line[:start]))
        for start, end in spans(name, line)
    )
