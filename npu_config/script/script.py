"""A script as it is written, before any path through it is followed."""

import ast
import bisect
import re
from types import MappingProxyType
from typing import (
    Any,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from npu_config.catalogue.api import PARTS
from npu_config.catalogue.own_api import BUILDER_METHODS, CONFIG_METHODS
from npu_config.core.lazy import asked_once, cached_property
from npu_config.python_flow.module import Module
from npu_config.python_flow.scopes import (
    FUNCTIONS,
    UNCLEAR,
    FunctionNode,
    Scope,
    Watch,
    all_parts,
    argument,
    blocks,
    called_name,
    first_line,
    functions,
    holds,
    in_lines,
    keyword_of,
    last_line,
    literal,
    literal_text,
    name_of,
)
from npu_config.python_flow.source import HAS_ENDS, ScriptSource, spans
from npu_config.rules.tasks import TASKS
from npu_config.script.neighbours import (
    any_neighbour_has,
    files_named,
    has_module,
    names_of_configuring,
    names_of_unread,
)
from npu_config.script.objects import CHANGING, Unknown
from npu_config.script.vocabulary import LOADING, PICKLES, RUN_CONFIGS, SEEDS, SESSIONS

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
_MAP = re.compile(r"(?<!\w)([A-Za-z_]\w*)\s*=[^=\n]*?\bparameter_map\s*(?:#|$)")
"""A short name of the options themselves."""
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
_MERGED_INTO = re.compile(
    r"\btext_format\s{0,9}\.\s{0,9}\w{1,30}\(.{0,300},\s{0,9}([A-Za-z_]\w{0,99})\s{0,9}\)"
)
_PARSED = re.compile(r"(?<!\w)([A-Za-z_]\w*)\s*=[^=\n]*?\btext_format\s*\.")
_PATTERNS = (_HOLDER, _BOUND, _PASSED, _GIVEN, _MERGED_INTO, _PARSED)
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
    r"global_jit_level|allow_soft_placement|Clear(?:Field)?\b|CopyFrom|MergeFrom|"
    r"ParseFromString|add\b|items\b|"
    r"(?:{})\b)\w".format(_METHODS)
)
"""What follows a holder of which only some other field is read."""

_MEMBER = re.compile(r"\s*\.\s*(\w+)")
_BELOW = re.compile(r"\s*class\s+(\w+)")
_NAME_OF_OBJECT = re.compile(r"\s*(?:self\s*\.\s*)?(\w+)\s*=(?!=)")
_ASSIGNED = re.compile(r"\s*=[^=]")
_SELF = re.compile(r"(?<![\w.])self\s*\.\Z")
_NOT_HOLDERS = frozenset(("self", "cls", "tf", "tf1", "None", "True", "False", "tensorflow"))
_OPENING = re.compile(r"(?:Session|RunConfig|Estimator|_session)\s*\(")
_SESSION = re.compile(r"Session\s*\(")
_NONE_LAST = re.compile(r",\s*None\s*\)")
_TAKES = re.compile(r"config|custom_op|Session\s*\(", re.IGNORECASE)
_MAY_TAKE = re.compile(r"config|custom_op|session", re.IGNORECASE)
"""What stands in every line that takes a configuration."""
_CONSUMERS = (*SESSIONS, *RUN_CONFIGS)
_CONSUMING = re.compile(r"\b(?:{})\s*\((?!\s*\))".format("|".join(_CONSUMERS)))
"""What takes a configuration, whatever its name is."""
_APP_RUN = re.compile(r"\bapp\s*\.\s*run\s*\(")


_READERS = (
    *("ParseFromString", "MergeFromString", "FromString", "ParseDict", "CopyFrom", "MergeFrom"),
    *("json_format", "text_format"),
)
"""What reads a configuration that somebody wrote, or a part of one."""
_MAKING = re.compile(r"(?<!\w)([A-Za-z_]\w*)\s*=[^=\n]*?\bConfigProto\s*[(.]")
_UNPICKLED = re.compile(
    r"(?<!\w)([A-Za-z_]\w*)\s*=\s*(?:{})\s*\.\s*(?:{})\s*\(".format(
        "|".join(PICKLES), "|".join(LOADING)
    )
)
_MADE_HERE = re.compile(
    r"(?<![\w.])((?:self\.)?[A-Za-z_]\w*)\s*=[^=\n]*?\b(?:NPURunConfig|{})\s*\(".format(
        "|".join(PARTS.values())
    )
)
_SETTING = r"(?<![\w.]){0}\s*\.\s*(?:\w+\s*=(?!=)|__dict__)|\b(?:setattr|vars)\s*\(\s*{0}\b"
_AS_CONFIG = r"\b(?:session_)?config\s*=\s*{}\b"


def _of_readers(source: ScriptSource) -> Iterator[int]:
    """The lines that read a ConfigProto from elsewhere, and those that make or use it."""
    lines, mentions = source.lines, source.mentions
    for line in (n for word in PICKLES for n in mentions(word)):
        for name in _UNPICKLED.findall(lines[line - 1]):
            use = re.compile(_AS_CONFIG.format(name))
            found = [n for n in mentions(name) if use.search(lines[n - 1])]
            yield from [line, *found] if found else ()
    for word in ("NPURunConfig", *PARTS.values()):
        for name in {each for n in mentions(word) for each in _MADE_HERE.findall(lines[n - 1])}:
            setting = re.compile(_SETTING.format(name))
            yield from [
                n for n in mentions(name.rpartition(".")[2]) if setting.search(lines[n - 1])
            ]
    readers = {n for word in _READERS for n in mentions(word)}
    if not readers or not mentions("ConfigProto"):
        return
    made = {n: _MAKING.findall(lines[n - 1]) for n in mentions("ConfigProto")}
    if mentions("json_format") or mentions("text_format"):
        readers.update(n for word in ("Parse", "Merge") for n in mentions(word))
    for name in {name for names in made.values() for name in names}:
        used = readers.intersection(mentions(name))
        if used:
            yield from used
            yield from [n for n, names in made.items() if name in names]
    yield from readers.intersection(made)


_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Assert)


def leaves_round(statement: ast.AST) -> bool:
    """True for a condition whose body may end a round of the loop around it."""
    return isinstance(statement, ast.If) and any(
        isinstance(each, (ast.Break, ast.Continue, ast.Return)) or leaves_round(each)
        for each in [*statement.body, *statement.orelse]
    )


class Hot(NamedTuple):
    """A statement that is worth running: its number, and whether it names the NPU itself."""

    number: int
    statement: ast.stmt
    has_seed: bool


class _Body:
    """The statements of a body that do something when it is run: all but functions.

    ``leaving`` are the numbers of those that may leave it, and of what is asserted.
    """

    def __init__(self, statements: Sequence[ast.stmt]) -> None:
        # Each reaches to the next one, for all that matters here.
        lasts = [first_line(following) - 1 for following in statements[1:]]
        lasts += map(last_line, statements[-1:])
        found = [pair for pair in zip(statements, lasts) if type(pair[0]) not in FUNCTIONS]
        self.statements = [statement for statement, _ in found]
        self.starts = [statement.lineno for statement in self.statements]
        self.lasts = [max(statement.lineno, last) for statement, last in found]
        self.leaving = [
            n
            for n, statement in enumerate(self.statements)
            if isinstance(statement, _LEAVING) or leaves_round(statement)
        ]
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
        hot_functions: the functions with hot lines, with their scopes; those that no other one
            calls come first.
    """

    def __init__(self, script: Module) -> None:
        self.source = source = script.source
        self.hot_functions: List[Tuple[Scope, FunctionNode]] = []
        self._ids: Set[int] = set()
        self._watched: Dict[int, _Watched] = {}
        self._bodies: Dict[int, _Body] = {}
        lines: Set[int] = set(_of_readers(source))
        for word in SEEDS:
            lines.update(source.lines_with(word, within=True))
        for line in source.lines_with("Session", within=True):
            opening = _SESSION.search(source.lines[line - 1])
            if opening and _NONE_LAST.search(source.lines[line - 1], opening.end()):
                lines.add(line)
        lines.update(self._of_short_names())
        self._seeds = sorted(lines)
        holders = self._holders(self._seeds)
        held: Set[int] = set()
        for word in holders:
            held.update(self._handled(word, source.mentions(word)))
        lines.update(self._of_imported(script))
        lines.update(source.mentions("global_jit_level"))
        lines.update(line for line in held if _OPENING.search(source.lines[line - 1]))
        self._spread(script, lines)
        if any(scope.is_class for scope, _ in self.hot_functions):
            lines.update(self._consuming())
            self._spread(script, lines)
        self._methods = {node.name for _, node in self.hot_functions}
        lines |= held
        self._lines = sorted(lines)

    def _of_short_names(self) -> Iterator[int]:
        """The lines that set an option by a short name of all of them."""
        lines, mentions = self.source.lines, self.source.mentions
        for word in {w for n in mentions("parameter_map") for w in _MAP.findall(lines[n - 1])}:
            yield from (n for n in mentions(word) if word + "[" in lines[n - 1])

    def _of_imported(self, script: Module) -> Iterator[int]:
        """The lines that may have a configuration from another file of the program."""
        lines = self.source.lines
        if not _MAY_TAKE.search(self.source.text):
            return
        imports = script.import_statements if self.source.path is not None else ()
        known = names_of_configuring(self.source.path, imports)
        for name in sorted(known):
            for line in self.source.mentions(name):
                if _TAKES.search(lines[line - 1]):
                    yield line
        yield from self._consuming() if known or names_of_unread(self.source.path, imports) else ()

    def _consuming(self) -> Iterator[int]:
        """The lines that take a configuration, whatever its name is."""
        lines = self.source.lines
        for word in _CONSUMERS:
            yield from (n for n in self.source.mentions(word) if _CONSUMING.search(lines[n - 1]))

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

    def _spread(self, script: Module, lines: Set[int]) -> None:
        """Make functions with hot lines hot, and the lines that name such functions."""
        callers: Dict[str, List[int]] = {}
        pending = sorted(lines)
        while pending:
            fresh: List[int] = []
            for line in pending:
                for scope, node in script.functions_around(line):
                    if id(node) not in self._ids:
                        self._ids.add(id(node))
                        self.hot_functions.append((scope, node))
                        name = called_name(scope, node)
                        if name not in callers:
                            callers[name] = self._callers(name, node.lineno)
                            fresh += [n for n in callers[name] if n not in lines]
                        if isinstance(scope.node, ast.ClassDef) and node.name != "__init__":
                            calling = self._calls_of_method(scope.node.name, node.name)
                            fresh += [n for n in calling if n not in lines]
                    break
            lines.update(fresh)
            pending = fresh
        called = {
            id(node)
            for scope, node in self.hot_functions
            for line in self._callers(called_name(scope, node), node.lineno)
            if not node.lineno <= line <= last_line(node)
            and any(id(caller) in self._ids for _, caller in script.functions_around(line))
        }
        self.hot_functions.sort(key=lambda pair: (id(pair[1]) in called, pair[1].lineno))

    def _callers(self, name: str, defined: int) -> List[int]:
        lines, mentions = self.source.lines, self.source.mentions
        found = [n for n in mentions(name) if n != defined and _names(name, lines[n - 1])]
        if name == "main":
            found += [n for n in mentions("app") if _APP_RUN.search(lines[n - 1])]
        return found

    def _calls_of_method(self, cls: str, method: str) -> Iterator[int]:
        """The lines that make an object of a class, or of one below it, and call its method."""
        lines, mentions = self.source.lines, self.source.mentions
        calling = re.compile(r"\s*\.\s*{}\b".format(method))
        classes = [cls]
        for each in classes:  # it grows by those below
            making = re.compile(r"(?<![\w.]){}\s*\(".format(each))
            for number in mentions(each):
                line = lines[number - 1]
                below = _BELOW.match(line)
                if below is not None:
                    classes += [name for name in below.groups() if name not in classes]
                elif making.search(line):
                    made = _NAME_OF_OBJECT.match(line)
                    names = () if made is None else made.groups()
                    calls = [
                        n
                        for name in names
                        for n in mentions(name)
                        if self._calls(name, n, {method})
                    ]
                    yield from [number, *calls] if calls or calling.search(line) else ()


def _within(lines: List[int], scope: Scope) -> List[int]:
    """Those of some lines, which are in order, that are in a scope."""
    if scope.parent is None:
        return list(lines)
    first, last = first_line(scope.node), last_line(scope.node)
    return lines[bisect.bisect_left(lines, first) : bisect.bisect_right(lines, last)]


def _names(name: str, line: str) -> bool:
    """True when a line names a function, bare or as one of ``self``, and does not assign it."""
    return any(
        not _ASSIGNED.match(line, end)
        and (line[start - 1 : start] != "." or _SELF.search(line[:start]))
        for start, end in spans(name, line)
    )


DEFINITION = re.compile(r"\b(?:DEFINE_\w+|add_argument)\s*\(")


class FlagDefault(NamedTuple):
    """The default of a flag and the line of its definition."""

    value: Any
    line: int


def flag_defaults(source: ScriptSource) -> Dict[str, Optional[FlagDefault]]:
    """The flags that a script defines; those that are defined once, with a literal default."""
    known: Dict[str, Optional[FlagDefault]] = {}
    text = source.text
    if "DEFINE_" not in text and "add_argument" not in text:
        return known
    for match in DEFINITION.finditer(text):
        line = source.line(match.start())
        call = _call_at(text, match.end())
        if call is None or source.lines[line - 1].lstrip().startswith("#"):
            continue
        name, default = _name_and_default(call, "add_argument" in match.group())
        if name is not None:
            value = literal(default)
            is_clear = name not in known and value is not UNCLEAR
            known[name] = FlagDefault(value, line) if is_clear else None
    return known


def _call_at(text: str, start: int) -> Optional[ast.Call]:
    """The call whose arguments begin at ``start``, found by trying each closing parenthesis."""
    end = start
    for _ in range(12):
        end = text.find(")", end) + 1
        if end == 0 or end - start > 2000:
            return None
        try:
            tree = ast.parse("f(" + text[start:end], mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        return tree if isinstance(tree, ast.Call) else None
    return None


def destination(call: ast.Call) -> Optional[str]:
    """The attribute that an argument of argparse becomes."""
    named = keyword_of(call, "dest")
    if named is not None:
        return literal_text(named.value)
    names = [name for name in map(literal_text, call.args) if name]
    long = [name for name in names if name.startswith("--")] or names
    return long[0].lstrip("-").replace("-", "_") if long else None


def _name_and_default(call: ast.Call, argparse: bool) -> Any:
    if argparse:
        default = keyword_of(call, "default")
        return destination(call), None if default is None else default.value
    return literal_text(argument(call, "name", 0)), argument(call, "default", 1)


_CHANGING = frozenset(name for names in CHANGING.values() for name in names)
_QUOTES = frozenset("\"'")
_WORK = ("run", "train", "train_and_evaluate", "fit", "main")
"""What trains, where a module calls it itself."""
_PATCHING = ("npu_bridge.npu_init", "npu_device.compat.v1.npu_init")


class AttributeStore(NamedTuple):
    """One assignment to an attribute of ``self``; ``value`` is None for other than plain ones."""

    value: Optional[ast.expr]
    scope: Scope
    receiver: str


_NOTHING_KNOWN: Mapping[str, str] = MappingProxyType({})


class Script(Module):
    """A parsed script with what is found in it once and for all.

    Args:
        text: the script.
        path: its file, for the places.
        environ: the environment variables that are known; others are not.
        parsed: as for :class:`Module`.

    Attributes:
        fixed: expressions with the value that they have on every path.
        references: what dotted names mean that are imported or built in.
        steps: how many statements were run so far, over all paths.
        followed: what names a ``parameter_map`` and was reached on a path.
        unfollowed: what may set options that are not known here, and why.
        others: other files of the program, by path, where functions of them are followed.

    Raises:
        Unparsable: for text that is not Python 3.
    """

    def __init__(
        self,
        text: str,
        path: Optional[str] = None,
        environ: Mapping[str, str] = _NOTHING_KNOWN,
        parsed: Optional[Module] = None,
    ) -> None:
        super().__init__(text, path, parsed)
        self.environ = environ
        self.steps = 0
        self.references: Dict[str, Unknown] = {}
        self.fixed: Dict[ast.AST, Any] = {}
        self.followed: Set[ast.AST] = set()
        self.unfollowed: Dict[ast.AST, str] = {}
        self.others: Dict[str, Optional[Script]] = {}

    def forget(self) -> None:
        """Let go of the scopes, which refer to each other, and of the files that were followed."""
        others = [self, *filter(None, self.others.values())]
        self.others.clear()  # they all have the same
        for each in others:
            each.module.forget()

    @cached_property
    def flags(self) -> Dict[str, Optional[FlagDefault]]:
        """The defaults of the flags that it defines once, with a literal default; else None."""
        return flag_defaults(self.source)

    @cached_property
    def relevance(self) -> Relevance:
        """Its hot lines, looked for when a path through it is followed."""
        return Relevance(self)

    @property
    def is_patched(self) -> bool:
        """True when it imports npu_init, which makes every session an NPU session."""
        return not self.imported("npu_init").isdisjoint(_PATCHING)

    def may_be_patched(self, line: int) -> bool:
        """True when what a line makes may be used by a program near this script that is patched.

        A script that is a program itself says what it imports.
        """
        is_own = self.function_of(line) is None or self.is_program
        return not is_own and self._is_near_patched

    @cached_property
    def _is_near_patched(self) -> bool:
        return any_neighbour_has(self.source.path, ("npu_init",))

    def has_module(self, name: str) -> bool:
        """True when a file near the script is the module of a name."""
        return has_module(self.source.path, name)

    @cached_property
    def is_program(self) -> bool:
        """True for a script that is run itself: nobody imports what trains when it is imported."""
        return bool(self.source.mentions("__main__")) or self._works_at_once()

    def _works_at_once(self) -> bool:
        """True when statements of the module itself open a session in ``with``, run or train."""
        pending: List[ast.AST] = list(in_lines(self.tree.body, self._lines_of_work()))
        while pending:
            statement = pending.pop()
            if isinstance(statement, (ast.With, ast.AsyncWith)) and any(
                isinstance(item.context_expr, ast.Call)
                and name_of(item.context_expr.func) in SESSIONS
                for item in statement.items
            ):
                return True
            value = getattr(statement, "value", None)
            if isinstance(value, ast.Call) and self._is_work(value.func):
                return True
            pending += [part for body in blocks(statement) for part in body]
        return False

    def _lines_of_work(self) -> List[int]:
        words = (*SESSIONS, *_WORK)
        return self.source.lines_of(*words)

    def _is_work(self, function: ast.expr) -> bool:
        """True for ``sess.run``, ``estimator.train``, ``main``; not for functions of modules."""
        if name_of(function) not in _WORK:
            return False
        if isinstance(function, ast.Name):
            return function.id == "main"
        owner = function.value if isinstance(function, ast.Attribute) else function
        bound = self.module.stores.get(name_of(owner), ())
        return name_of(owner) == "app" or all(store.kind != "import" for store in bound)

    @property
    def imports_npu_bridge(self) -> bool:
        """True when it loads the adapter itself."""
        return bool(self.imported("npu_bridge"))

    @property
    def is_of_other_adapter(self) -> bool:
        """True when it loads the adapter of TensorFlow 2, and works in no way of TensorFlow 1."""
        modules = [name for name in self.imported("npu_device") if name.startswith("npu_device")]
        return (
            bool(modules)
            and not any(name.startswith("npu_device.compat") for name in modules)
            and not self.source.mentions("enable_v1")
            and not self.imports_npu_bridge
            and not self.imported("npu_config")
        )

    @asked_once
    def imported(self, word: str) -> FrozenSet[str]:
        """The dotted names of all imports, wherever they are, with a word on their lines."""
        text = self.source.lines
        lines = [
            line
            for line in self.source.mentions(word)
            if line in self.import_lines
            or "import" in text[line - 1]
            or not _QUOTES.isdisjoint(text[line - 1].rpartition(word)[0])
        ]
        nodes = all_parts(self.tree, lines) if lines else []
        return frozenset(name for node in nodes for name in _names_of_import(node))

    @cached_property
    def import_lines(self) -> FrozenSet[int]:
        """The lines of all import statements."""
        ends = ((each.lineno, self._end_of(each)) for each in self.import_statements)
        return frozenset(line for first, last in ends for line in range(first, last + 1))

    def _end_of(self, statement: Any) -> int:
        """The last line of an import; Python 3.7 does not say it, so there it is kept."""
        if not HAS_ENDS:
            last, text = statement.lineno, self.source.lines
            is_in_brackets = "(" in text[last - 1].partition("#")[0]
            while last < len(text) and (
                text[last - 1].endswith("\\")
                or (is_in_brackets and ")" not in text[last - 1].partition("#")[0])
            ):
                last += 1
            statement.end_lineno = last
        return last_line(statement)

    @cached_property
    def files_named(self) -> List[str]:
        """The files of the program that its names may lead to."""
        path, text = self.source.path, self.source.text
        stars = self.star_imports
        return [] if path is None else files_named(path, self.import_statements, stars, text)

    def reference(self, text: str) -> Unknown:
        """What a dotted name means that is imported or built in, always the same object."""
        found = self.references.get(text)
        if found is None:
            found = self.references[text] = Unknown(text, tuple(text.split(".")))
        return found

    @asked_once
    def times_set(self, name: str) -> int:
        """How often an attribute of this name is set, whatever it is an attribute of."""
        source = self.source
        if source.mentions("setattr") or source.mentions("__dict__"):
            return 2
        attributes = (node for node in self.nodes(name) if isinstance(node, ast.Attribute))
        return sum(n.attr == name and not isinstance(n.ctx, ast.Load) for n in attributes)

    @asked_once
    def carried(self, loop: ast.AST) -> Set[str]:
        """The names that a loop reads and changes: a round may have them from the one before."""
        parts = all_parts(loop)
        names = [node for node in parts if isinstance(node, ast.Name)]
        sums = [node.target for node in parts if isinstance(node, ast.AugAssign)]
        read = {each.id for each in names if isinstance(each.ctx, ast.Load) or each in sums}
        return read & {name_of(each) for each in filter(None, map(_changed, parts))}

    @cached_property
    def star_imports(self) -> List[str]:
        """The modules whose names are all imported."""
        return [
            "." * each.level + (each.module or "")
            for each in self.import_statements
            if isinstance(each, ast.ImportFrom) and each.names[0].name == "*"
        ]

    @property
    def has_star_import(self) -> bool:
        """True when names may come from anywhere."""
        return any("*" in self.source.lines[n - 1] for n in self.source.mentions("import"))

    @asked_once
    def attribute_stores(self, cls: Scope) -> Dict[str, List[AttributeStore]]:
        """Every assignment to an attribute of ``self`` in the methods of a class."""
        found: Dict[str, List[AttributeStore]] = {}
        methods = [node for scope, node in functions(cls, cls.body) if scope is cls]
        for node in methods:
            scope, receiver = cls.child(node), node.args.args[0].arg if node.args.args else ""
            for name, stores in scope.attributes_of(receiver).items():
                for kind, value, _ in stores:
                    store = AttributeStore(value if kind == "value" else None, scope, receiver)  # type: ignore[arg-type]
                    found.setdefault(name, []).append(store)
        return found


def _changed(node: ast.AST) -> Optional[ast.expr]:
    """What a part of a script binds, or changes as a list or dict."""
    is_read = isinstance(getattr(node, "ctx", None), (ast.Load, type(None)))
    if isinstance(node, ast.Attribute):
        return node.value if node.attr in _CHANGING else None
    if is_read or not isinstance(node, (ast.Name, ast.Subscript)):
        return None
    return node if isinstance(node, ast.Name) else node.value


def _names_of_import(node: ast.AST) -> Iterator[str]:
    """The modules, and the names in them, that a statement imports; or a module named in text."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name
    elif isinstance(node, ast.ImportFrom):
        module = node.module or ""
        yield module
        for alias in node.names:
            yield "{}.{}".format(module, alias.name)
    elif isinstance(node, ast.Call) and node.args:
        yield literal_text(node.args[0]) or ""
