"""What a shell knows at one point of a script, and what its words come to, as far as certain."""

import functools
import operator
import os
import re
from typing import (
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
)

import attr

from npu_config.core.settings import UNKNOWN, Unknown
from npu_config.launch.shell.syntax import Node, ShellScript, Spot

Value = Union[str, Unknown]


class ShellVariable(NamedTuple):
    """A variable; ``certain`` is False when only some of the paths to here set it.

    ``exported`` is None when it is exported on some of the paths only.
    ``elements`` is an array in one text, the words with :data:`ARRAY_SEPARATOR` between them.
    ``maybe`` are values that it has on some of the paths only, and where they are set.
    """

    value: Value
    spot: Optional[Spot] = None
    exported: Optional[bool] = False
    certain: bool = True
    elements: Value = UNKNOWN
    maybe: "Tuple[Possible, ...]" = ()


Possible = Tuple[Value, Optional[Spot]]
"""A value that a variable may have, and where it is set."""

NOT_KNOWN = ShellVariable(UNKNOWN)


@attr.s(slots=True, auto_attribs=True, eq=False)
class Shell:
    """What changes seldom: one object for all paths on which it stays the same.

    Attributes:
        unset: the names that are certainly not set: others may come from outside.
        functions: name to body and script, of every path; None for one that defines none.
        arguments: ``$1`` and what follows; None when they are not known.
        more: whether others may follow them.
        export_all: after ``set -a``; None after one that may not be reached.
        expands_aliases: after ``shopt -s expand_aliases``; a script has none else.
    """

    unset: Set[str]
    functions: "Dict[str, Tuple[Optional[Function], ...]]"
    arguments: Optional[Tuple[Value, ...]]
    export_all: Optional[bool]
    expands_aliases: bool = False
    more: bool = False


Function = Tuple[Node, ShellScript]
"""The body of a function, and where it stands."""


class ShellPath(NamedTuple):
    """What became of a state on a path: the variables that it changed (None: not left)."""

    variables: Dict[str, Optional[ShellVariable]]
    shell: Shell
    dead: str = ""


class State:
    """The variables of a shell.

    A path that may not be taken is followed on the state itself: :meth:`fork`, what happens on
    it, :meth:`rollback`; :meth:`join` then takes what is known after several of them.

    Attributes:
        variables: by name; beside them the texts of files (:func:`file_key`).
        exported: those that a command certainly gets.
        doubtful: those that it gets on some paths, or with one value or another.
        shell: all else; :meth:`writable_shell` before it is changed.
        before: the variables that changed on the path that is followed, as they were before it.
        dead: ``"exit"`` or ``"return"`` after that; nothing that follows is reached.
    """

    __slots__ = ("_shared", "before", "dead", "doubtful", "exported", "shell", "variables")

    def __init__(self, arguments: Optional[Sequence[Value]] = None, more: bool = False) -> None:
        self.variables: Dict[str, ShellVariable] = {}
        self.exported: Dict[str, ShellVariable] = {}
        self.doubtful: Dict[str, ShellVariable] = {}
        self.shell = Shell(set(), {}, None if arguments is None else (*arguments,), False)
        self.shell.more = more
        self.before: Dict[str, Optional[ShellVariable]] = {}
        self.dead = ""
        self._shared = False

    def empty_branch(self) -> ShellPath:
        """The path on which nothing happens."""
        self._shared = True
        return ShellPath({}, self.shell)

    def fork(self) -> ShellPath:
        """Begin a path that may not be taken; its beginning, for :meth:`rollback`."""
        begin = ShellPath(self.before, self.shell, self.dead)
        self.before = {}
        self._shared = True
        return begin

    def rollback(self, begin: ShellPath) -> ShellPath:
        """Undo what happened since :meth:`fork`; the path that was followed."""
        changed = {name: self.variables.get(name) for name in self.before}
        followed = ShellPath(changed, self.shell, self.dead)
        for name, variable in self.before.items():
            self._have(name, variable)
        self.before, self.shell, self.dead = begin
        self._shared = True
        return followed

    def join(self, *paths: ShellPath) -> None:
        """Take what is known where several paths come together; those that ended do not count."""
        alive = [path for path in paths if not path.dead] or paths[:1]
        first = alive[0]
        self.shell, self.dead = first.shell, first.dead
        names = dict(first.variables)
        for path in alive[1:]:
            names.update(path.variables)
            if path.shell is not first.shell:
                self._join_shell(path.shell)
        for name in names:
            here = self.variables.get(name)
            one = first.variables.get(name, here)
            for path in alive[1:]:
                two = path.variables.get(name, here)
                if one is not two:
                    one = _joined(one, two)
            self.put(name, one)

    def _join_shell(self, other: Shell) -> None:
        shell = self.shell
        self.shell = Shell(
            shell.unset & other.unset,
            _either(shell.functions, other.functions),
            shell.arguments if shell.arguments == other.arguments else None,
            shell.export_all if shell.export_all is other.export_all else None,
            shell.expands_aliases and other.expands_aliases,
            shell.more or other.more,
        )

    def writable_shell(self) -> Shell:
        """What changes seldom, to be changed: no other path has it."""
        if self._shared:
            shell = self.shell
            functions = dict(shell.functions)
            self.shell = attr.evolve(shell, unset=set(shell.unset), functions=functions)
            self._shared = False
        return self.shell

    def get(self, name: str) -> Value:
        """The value of a variable; UNKNOWN when it is not set here but may be outside."""
        variable = self.variables.get(name)
        if variable is not None:
            return variable.value if variable.certain else UNKNOWN
        if name in self.shell.unset:
            return ""
        return _BLANKS if name == "IFS" else UNKNOWN  # bash takes no IFS from outside

    def separators(self) -> Value:
        """The characters that separate fields: the value of IFS, or that which it begins with."""
        return self.get("IFS") if "IFS" in self.variables else _BLANKS

    def elements(self, name: str) -> Value:
        """The elements of an array in one text."""
        variable = self.variables.get(name)
        if variable is None:
            return "" if name in self.shell.unset else UNKNOWN
        return variable.elements if variable.certain else UNKNOWN

    def array(self, name: str) -> Optional[List[str]]:
        """The elements of an array; None when they are not known."""
        elements = self.elements(name)
        if elements is UNKNOWN:
            return None
        return elements.split(ARRAY_SEPARATOR) if elements else []

    def put(self, name: str, variable: Optional[ShellVariable]) -> None:
        """Have this variable, or none, under a name."""
        self.before.setdefault(name, self.variables.get(name))
        self._have(name, variable)

    def _have(self, name: str, variable: Optional[ShellVariable]) -> None:
        exported: Optional[bool] = False
        if variable is None:
            self.variables.pop(name, None)
        else:
            self.variables[name] = variable
            exported = variable.exported
        if exported and variable is not None and variable.certain:
            self.exported[name] = variable
        elif name in self.exported:
            del self.exported[name]
        if exported is not False and variable is not None:
            if exported is None:
                variable = variable._replace(
                    exported=True, certain=False, elements=UNKNOWN, maybe=possible(variable)
                )
            if variable.maybe:
                self.doubtful[name] = variable
                return
        if self.doubtful:
            self.doubtful.pop(name, None)

    def set(
        self,
        name: str,
        value: Value,
        spot: Optional[Spot],
        export: bool = False,
        elements: Value = UNKNOWN,
    ) -> None:
        """Assign; a variable that was exported stays so."""
        before = self.variables.get(name)
        exported = export or self.shell.export_all
        if exported is not True and before is not None and before.exported is not False:
            exported = before.exported
        self.before.setdefault(name, before)
        self._have(name, ShellVariable(value, spot, exported, True, elements))
        if name in self.shell.unset:
            self.writable_shell().unset.discard(name)

    def export(self, name: str, spot: Optional[Spot]) -> None:
        """``export NAME``."""
        variable = self.variables.get(name)
        if variable is not None:
            self.put(name, variable._replace(exported=True))
        elif name not in self.shell.unset:
            self.put(name, ShellVariable(UNKNOWN, spot, True, False))

    def forget_export(self, name: str) -> None:
        """``export -n NAME``."""
        variable = self.variables.get(name)
        if variable is not None:
            self.put(name, variable._replace(exported=False))
            self.writable_shell().unset.add(name)  # for what is started

    def remove(self, name: str) -> None:
        """``unset NAME``."""
        self.put(name, None)
        self.writable_shell().unset.add(name)

    def forget(self, names: Optional[Iterable[str]] = None) -> None:
        """The values of these variables, or of all, are no longer known."""
        for name in list(self.variables) if names is None else names:
            variable = self.variables.get(name)
            if variable is not None:
                maybe = possible(variable) if names is None else ()
                self.put(name, variable._replace(value=UNKNOWN, elements=UNKNOWN, maybe=maybe))
            elif name in self.shell.unset:
                self.writable_shell().unset.discard(name)
        if names is None and self.shell.unset:
            self.writable_shell().unset.clear()


ARRAY_SEPARATOR = "\x1f"
"""What separates the elements of an array in its text."""


def file_key(path: str) -> str:
    """The name under which a state keeps the text of a file that the script wrote."""
    return "> " + os.path.normpath(path)


def _either(
    some: Dict[str, Tuple[Optional[Function], ...]],
    others: Dict[str, Tuple[Optional[Function], ...]],
) -> Dict[str, Tuple[Optional[Function], ...]]:
    """The functions of two paths."""
    found = dict(some)
    for name in some.keys() | others.keys():
        one, two = some.get(name, (None,)), others.get(name, (None,))
        if one is not two:
            bodies = {each and (id(each[1]), each[0].start_byte): each for each in (*one, *two)}
            found[name] = tuple(bodies.values())
    return found


def _joined(one: Optional[ShellVariable], two: Optional[ShellVariable]) -> ShellVariable:
    if one is None or two is None:
        known = one or two
        assert known is not None
        exported = None if known.exported else False
        return ShellVariable(known.value, known.spot, exported, False, UNKNOWN, possible(known))
    is_same = one.value == two.value
    return ShellVariable(
        one.value if is_same else UNKNOWN,
        one.spot,
        one.exported if one.exported is two.exported else None,
        one.certain and two.certain,
        one.elements if one.elements == two.elements else UNKNOWN,
        _all_of(one.maybe, two.maybe) if is_same else _all_of(possible(one), possible(two)),
    )


_MOST_VALUES = 8


def _all_of(some: Tuple[Possible, ...], more: Tuple[Possible, ...]) -> Tuple[Possible, ...]:
    if not some or not more:
        return some or more
    return tuple(dict.fromkeys((*some, *more)))[:_MOST_VALUES]


def possible(variable: ShellVariable) -> Tuple[Possible, ...]:
    """Every value that a variable is known to have on some path."""
    if variable.value is UNKNOWN:
        return variable.maybe
    return _all_of(((variable.value, variable.spot),), variable.maybe)


_BLANKS = " \t\n"
"""What IFS begins with."""
_MOST_FIELDS = 4096
_MOST_GROUPS = 16
LONGEST = 4096
"""The characters of a value that is kept; what doubles itself is soon unknown."""
_LARGEST = 2**63
_LARGEST_TEXT = 1024 * 1024
_BRACES = re.compile(r"(?<!\$)\{([^{}]{1,4096})\}")
_SEVERAL = re.compile(r",|\.\.")
_RANGE = re.compile(r"(-?[0-9]{1,6})\.\.(-?[0-9]{1,6})(?:\.\.([1-9][0-9]{0,5}))?\Z")
_ALL = re.compile(r'"?\$\{(!?)(\w+)\[[@*]\]\}"?\Z')
_NAMED = re.compile(r"\$\{?(\w+)\}?\Z")
_LENGTH = re.compile(r"\$\{#(\w+)(\[[@*]\])?\}\Z", re.ASCII)
_SIGNS = frozenset((*(":-", "-", ":=", "=", ":+", "+", ":?", "?"), *("#", "##", "%", "%%")))
_WILD = {"*": ".*", "?": "."}
_NOT_SIMPLE = re.compile(r"[\\\[(~]")
"""What a pattern has that is not looked for: sets, groups, what is escaped."""
_INNER = ("simple_expansion", "expansion", "command_substitution", "arithmetic_expansion")
_COMPUTES = re.compile(
    r"\s*(?:\$\(|`)\s*(?:basename|cat|cd|dirname|echo|printf|readlink|realpath|seq)\b"
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_BACK_QUOTES = re.compile(r"(?<!\\)`(?:[^`\\]|\\.)*`", re.DOTALL)
_IN_QUOTES = re.compile(r'\\([$`"\\])')
_PARAMETER = re.compile(r"\w+\Z", re.ASCII)
NAME = re.compile(r"[A-Za-z_]\w*\Z")
_SPECIAL = re.compile(r"[\\$`'\"*?\[]")
_WHOLE = re.compile(r"-?[0-9]{1,18}\Z")
CHANGES = re.compile(
    r"\b(?:(?<=\+\+)|(?<=--)|(?=\w+\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)))([A-Za-z_]\w*)"
)
_GLOB = re.compile(r"[*?\[]")
_SPLITS = re.compile(r"[*?\[{\\]")
"""What a plain word has that may be another word, or several."""
_QUOTE = re.compile(r"['\"\\]")


def _split(state: State, value: str) -> List[Value]:
    """The words that an unquoted value becomes."""
    separators = state.separators()
    if separators is UNKNOWN:
        return [UNKNOWN]
    fields = fields_between(separators, value)
    return [part if _GLOB.search(part) is None else UNKNOWN for part in fields]


def fields_between(separators: str, value: str, most: Optional[int] = None) -> List[str]:
    """What stands between the separators of a text, as bash sees it.

    Args:
        separators: the value of IFS.
        value: the text.
        most: how many fields there may be; the last one is all the rest, as for ``read``.
    """
    blanks = "".join(each for each in separators if each in _BLANKS)
    value = value.strip(blanks)
    if not value:
        return []
    separator = _separator(separators)
    fields = [value] if separator is None else separator.split(value)
    if not fields[-1]:  # a separator at the end begins no field
        fields.pop()
    if separator is None or most is None or len(fields) <= most:
        return fields
    return separator.split(value, most - 1) if most > 1 else [value]


@functools.lru_cache(maxsize=64)
def _separator(separators: str) -> "Optional[re.Pattern[str]]":
    blanks = "".join(each for each in separators if each in _BLANKS)
    marks = "".join(each for each in separators if each not in _BLANKS)
    around = "[{}]".format(re.escape(blanks)) if blanks else ""
    parts = []
    if marks:
        parts.append("{0}[{1}]{0}".format(around and around + "*", re.escape(marks)))
    if blanks:
        parts.append(around + "+")
    return re.compile("|".join(parts)) if parts else None


def value_of(script: ShellScript, state: State, node: Optional[Node]) -> Value:
    """The value of a word that is not split, as in an assignment."""
    if node is None:
        return ""
    kind = node.type
    if kind in _PLAIN_WORDS:
        text = script.text(node)
        return _ESCAPED.sub(r"\1", text) if "\\" in text else text
    if kind == "string":
        return _quoted(script, state, node)
    if kind == "concatenation":
        return _one_word(script, state, node.children, node.start_byte)
    if kind in ("simple_expansion", "expansion"):
        return _expansion(script, state, node)
    if kind == "command_substitution":
        return _substituted(script, state, node)
    text = script.text(node)
    if kind == "raw_string":
        return text[1:-1]
    if kind == "arithmetic_expansion":
        changed = CHANGES.findall(text)
        for name in changed:
            state.set(name, UNKNOWN, script.spot(node))
        if changed:
            return UNKNOWN
        number = arithmetic(script, state, node)
        return UNKNOWN if number is None else str(number)
    if kind == "joined":
        return _filled(state, text)
    if kind == "process_substitution":
        path = "/dev/fd/{}".format(node.start_byte)
        inner = [child for child in node.children if child.is_named]
        if len(inner) == 1 and text.startswith("<"):
            state.put(file_key(path), output(script, state, inner[0]))
        return path
    if kind == "ansi_c_string":
        text = text[2:-1].replace("\\n", "\n").replace("\\t", "\t")
        return UNKNOWN if "\\" in text else text
    return UNKNOWN


def _one_word(script: ShellScript, state: State, nodes: Sequence[Node], begin: int) -> Value:
    """Several parts that follow each other, with the blanks between them."""
    parts: List[Value] = []
    for node in nodes:
        inner = script.text(node) if node.type in _INNER else ""  # it may begin with blanks, too
        blanks = inner[: len(inner) - len(inner.lstrip())]
        parts += [script.source[begin : node.start_byte], blanks, value_of(script, state, node)]
        begin = node.end_byte
    return _concatenated(parts)


_PLAIN_WORDS = frozenset(
    ("word", "number", "variable_name", "special_variable_name", "extglob_pattern")
)
_VARIABLE = re.compile(r"\$(\w+)|\$\{(\w+)\}")
_NOT_FILLED = re.compile(r"['\"`\\]|\$(?!\w|\{\w+\})")


def _filled(state: State, text: str) -> Value:
    """A word of plain parts and variables."""
    if _NOT_FILLED.search(text) is not None:
        return UNKNOWN
    parts: List[Value] = []
    for number, part in enumerate(_VARIABLE.split(text)):
        if number % 3 == 0:
            parts.append(part)
        elif part is not None:
            parts.append(UNKNOWN if part.isdecimal() else state.get(part))
    return _concatenated(parts)


def fields_of(script: ShellScript, state: State, node: Node) -> List[Value]:
    """The fields that a word gives where it is split, as in a list of arguments."""
    text, kind = script.text(node), node.type
    if kind in _PLAIN_WORDS and _SPLITS.search(text) is None:
        return [text]
    if "{" in text and kind in ("word", "concatenation", "brace_expression"):
        alternatives = braced(text)
        if len(alternatives) > 1:
            plain = not any(_SPECIAL.search(each) or len(each) > LONGEST for each in alternatives)
            return list(alternatives) if plain else [UNKNOWN]
    if text in ("$@", "$*", '"$@"') and kind in ("simple_expansion", "string"):
        return _words(state, all_arguments(state), text[0] == '"')
    whole = _ALL.match(text) if text.endswith(("]}", ']}"')) else None
    if whole is not None:
        words = state.array(whole.group(2))
        if words is None:
            return [UNKNOWN]
        if whole.group(1):
            words = [str(number) for number in range(len(words))]
        if text.endswith('[*]}"'):
            separators = state.separators()
            return [UNKNOWN if separators is UNKNOWN else separators[:1].join(words)]
        return _words(state, words, text[0] == '"')
    value = value_of(script, state, node)
    if value is UNKNOWN or kind in ("string", "raw_string"):
        return [value]
    if kind in _INNER:
        fields = _split(state, value)
        # in ${name:-"a b"} a part of the value is not split
        is_split = kind != "expansion" or len(fields) == 1 or _QUOTE.search(text) is None
        return fields if is_split else [UNKNOWN]
    if kind == "joined" or any(each.type in _INNER for each in node.children):
        if state.separators() != _BLANKS:
            return [UNKNOWN]  # the separators that the word has itself separate nothing
        if _QUOTE.search(text) is None:
            return _split(state, value)
        if not set(_BLANKS).isdisjoint(value):
            return [UNKNOWN]
    if _GLOB.search(value) is not None:
        return [UNKNOWN]
    return [value]


def all_arguments(state: State) -> Sequence[Value]:
    """``$@``; an unknown word at its end where there may be more."""
    shell = state.shell
    if shell.arguments is None:
        return [UNKNOWN]
    return [*shell.arguments, UNKNOWN] if shell.more else shell.arguments


def may_be_several(script: ShellScript, state: State, node: Node) -> bool:
    """Whether a word of unknown value may become several fields, or none."""
    kind, text = node.type, script.text(node)
    if kind == "string":
        is_known = text == '"$@"' and state.shell.arguments is not None and not state.shell.more
        return not is_known and _EACH.search(text) is not None
    if kind == "concatenation":
        return any(may_be_several(script, state, each) for each in node.children)
    if kind in _PLAIN_WORDS:
        return _GLOB.search(text) is not None
    return kind not in _ONE_FIELD and text not in ("$#", "$?", "$$", "$!")


_EACH = re.compile(r"\$\{?@|\[@\]")
_ONE_FIELD = frozenset(
    ("raw_string", "ansi_c_string", "arithmetic_expansion", "process_substitution")
)


def listed(script: ShellScript, state: State, node: Node) -> List[Value]:
    """The fields of a word in a list of values: ``~`` is the folder of the user."""
    if node.type in ("word", "concatenation") and script.source.startswith("~", node.start_byte):
        return [UNKNOWN]
    return fields_of(script, state, node)


def assigned(script: ShellScript, state: State, value: Optional[Node]) -> Value:
    """The value behind ``NAME=``."""
    text = "" if value is None else script.text(value)
    if "~" in text and value is not None and value.type in _WITH_TILDE and _TILDE.search(text):
        return UNKNOWN
    return value_of(script, state, value)


_WITH_TILDE = ("word", "concatenation", "joined")
_TILDE = re.compile(r"(?:\A|:)~")


def _words(state: State, words: Iterable[Value], quoted: bool) -> List[Value]:
    """What several words become, each by itself; those in quotes stay as they are."""
    if quoted:
        return list(words)
    return together([each] if each is UNKNOWN else _split(state, each) for each in words)


def braced(text: str) -> List[str]:
    """The words that the braces of a word give: ``x{1..3}``, ``{a,b}=1``; at most so many."""
    match = next((each for each in _BRACES.finditer(text) if _SEVERAL.search(each[1])), None)
    if match is None or text.count("{") > _MOST_GROUPS:
        return [text]
    numbers = _RANGE.match(match.group(1))
    if numbers is not None:
        first, last, step = (int(each or 1) for each in numbers.groups())
        step = step if last >= first else -step
        width = max(len(each) for each in numbers.groups()[:2]) * (
            any(each.lstrip("-")[:1] == "0" and len(each) > 1 for each in numbers.groups()[:2])
        )
        parts = [
            str(number).zfill(width)
            for number in range(first, last + (1 if step > 0 else -1), step)[: _MOST_FIELDS + 1]
        ]
    elif "," in match.group(1):
        parts = match.group(1).split(",")
    else:
        return [text]
    before, behind = text[: match.start()], braced(text[match.end() :])
    if len(parts) * len(behind) > _MOST_FIELDS:
        return [text]
    return [before + part + end for part in parts for end in behind]


def together(words: Iterable[List[Value]]) -> List[Value]:
    """The fields of several words; one that is unknown for more than anybody writes."""
    found: List[Value] = []
    for each in words:
        found += each
        if len(found) > _MOST_FIELDS:
            return [UNKNOWN]
    return found


def _concatenated(parts: List[Value]) -> Value:
    known = [part for part in parts if part is not UNKNOWN]
    if len(known) < len(parts) or sum(map(len, known)) > _LARGEST_TEXT:
        return UNKNOWN
    return "".join(known)


UNKNOWN_PART = "${_npu_unknown}"
"""What stands in a text, which a shell follows, where its value is not known."""


def heredoc(script: ShellScript, state: State, node: Node, unknown: Optional[str] = None) -> Value:
    """The text of a here-document; the tabs that ``<<-`` takes away stay, as places need them.

    Args:
        script: where it stands.
        state: what is known.
        node: the redirection.
        unknown: what to write for a part that is not known; None: then nothing is known.
    """
    parts = {child.type: child for child in node.children}
    start, body = parts.get("heredoc_start"), parts.get("heredoc_body")
    if start is None or body is None:
        return UNKNOWN
    if script.source[: body.start_byte].endswith("\n\n"):
        return UNKNOWN  # the grammar passes over blank lines at the beginning
    if _QUOTE.search(script.text(start)) is None:
        return _quoted(script, state, body, 0, unknown)
    return script.text(body)


def leniently(script: ShellScript, state: State, node: Node) -> Value:
    """A word that is a text for a shell; a part that is not known stands in it as such."""
    if node.type == "string":
        return _quoted(script, state, node, 1, UNKNOWN_PART)
    if node.type == "concatenation":
        return _concatenated([leniently(script, state, child) for child in node.children])
    value = value_of(script, state, node)
    return UNKNOWN_PART if value is UNKNOWN else value


def _quoted(
    script: ShellScript, state: State, node: Node, marks: int = 1, unknown: Optional[str] = None
) -> Value:
    def plain(begin: int, end: int) -> Value:
        text = script.source[begin:end]
        if "`" in text:  # the grammar finds no commands in back quotes in here-documents
            if unknown is None and _BACK_QUOTES.search(text) is not None:
                return UNKNOWN
            text = _BACK_QUOTES.sub(lambda _: str(unknown), text)
        return _IN_QUOTES.sub(r"\1", text.replace("\\\n", "")) if "\\" in text else text

    parts: List[Value] = []
    position, end = node.start_byte + marks, node.end_byte - marks
    for child in node.children:
        if child.type in _INNER:
            inner = script.text(child)  # the grammar counts the blanks before it in
            start = child.start_byte + len(inner) - len(inner.lstrip())
            parts.append(plain(position, start))
            is_plain = child.type != "expansion" or "'" not in inner  # they are quotes in some
            value = value_of(script, state, child) if is_plain else UNKNOWN
            parts.append(unknown if unknown is not None and value is UNKNOWN else value)
            position = child.end_byte
    parts.append(plain(position, end))
    return _concatenated(parts)


def _expansion(script: ShellScript, state: State, node: Node) -> Value:
    text = script.text(node).lstrip()
    name = _NAMED.match(text)
    if name is not None:
        return _variable(script, state, name.group(1))
    if text == "${BASH_SOURCE[0]}":
        return _variable(script, state, "0")
    if text in ("$#", "${#}", "${#@}", "${#*}"):
        arguments = all_arguments(state)
        return UNKNOWN if UNKNOWN in arguments else str(len(arguments))
    length = _LENGTH.match(text)
    if length is not None:
        return _length(script, state, *length.groups())
    if node.children[1:2] and node.children[1].type == "subscript":
        return _element(script, state, node) if len(node.children) == 3 else UNKNOWN
    return _with_sign(script, state, node)


def _length(script: ShellScript, state: State, name: str, of_array: Optional[str]) -> Value:
    """``${#name}``, and ``${#name[@]}``."""
    if of_array:
        words = state.array(name)
        return UNKNOWN if words is None else str(len(words))
    value = _variable(script, state, name)  # in which characters the locale may say
    return str(len(value)) if value is not UNKNOWN and value.isascii() else UNKNOWN


def _parts_of_sign(script: ShellScript, node: Node) -> Optional[Tuple[str, str]]:
    """The name in ``${name:-default}`` or ``${name%pattern}``, and the sign behind it."""
    if node.type != "expansion" or len(node.children) < 4:
        return None
    name, sign = script.text(node.children[1]), script.text(node.children[2])
    return (name, sign) if sign in _SIGNS and _PARAMETER.match(name) else None


def defaults(script: ShellScript, state: State, node: Optional[Node]) -> "Tuple[Possible, ...]":
    """The values that a word has where a variable has none outside: ``"${name:-default}"``."""
    if node is not None and node.type == "string" and len(node.children) == 3:
        node = node.children[1]
    parts = None if node is None else _parts_of_sign(script, node)
    if node is None or parts is None or parts[1][-1] not in "-=":
        return ()
    default = _behind_sign(script, state, node)
    return () if default is UNKNOWN else ((default, script.spot(node)),)


def _behind_sign(script: ShellScript, state: State, node: Node) -> Value:
    return _one_word(script, state, node.children[3:-1], node.children[2].end_byte)


def _with_sign(script: ShellScript, state: State, node: Node) -> Value:
    """``${name:-default}``, ``${name:=default}``, which assigns it, ``${name%pattern}``..."""
    parts = _parts_of_sign(script, node)
    if parts is None:
        return UNKNOWN
    name, sign = parts
    value = _variable(script, state, name)
    if sign[0] in "#%":
        return UNKNOWN if value is UNKNOWN else _without(script, state, node, value)
    if value is UNKNOWN:
        if "=" in sign:
            variable = state.variables.get(name)
            before = () if variable is None else possible(variable)
            maybe = _all_of(before, defaults(script, state, node))
            state.set(name, UNKNOWN, script.spot(node))
            state.put(name, state.variables[name]._replace(maybe=maybe))
        return UNKNOWN
    is_there = _has(state, name) and (value != "" or ":" not in sign)
    if is_there != ("+" in sign):
        return value if is_there else ""
    if "?" in sign:  # the script ends here
        return UNKNOWN
    other = _behind_sign(script, state, node)
    if "=" in sign:
        state.set(name, other, script.spot(node))
    return other


def _has(state: State, name: str) -> bool:
    """Whether a variable is set whose value is known."""
    if name.isdecimal():
        return int(name[:9]) <= len(state.shell.arguments or ())
    return name in state.variables or name not in state.shell.unset


def _without(script: ShellScript, state: State, node: Node, value: str) -> Value:
    """A value without what a pattern matches at its beginning or its end."""
    sign = script.text(node.children[2])
    pattern: List[str] = []
    begin = node.children[2].end_byte
    quoted = (each for each in node.children[3:-1] if each.type in ("string", "raw_string"))
    for part in (*quoted, node.children[-1]):
        text = _filled(state, script.source[begin : part.start_byte])
        if text is UNKNOWN or _NOT_SIMPLE.search(text) is not None:
            return UNKNOWN
        pattern += [_WILD.get(mark) or re.escape(mark) for mark in text]
        literal = "" if part.type == "}" else value_of(script, state, part)
        if literal is UNKNOWN:
            return UNKNOWN
        pattern += map(re.escape, literal)
        begin = part.end_byte
    if len(value) ** pattern.count(_WILD["*"]) > _LARGEST_TEXT:
        return UNKNOWN
    step = 1 if sign[0] == "#" else -1  # an end is a beginning, backwards
    matches = "".join(pattern[::step])
    if len(sign) == 1:
        matches = matches.replace(_WILD["*"], _WILD["*"] + "?")
    found = re.compile(matches, re.DOTALL).match(value[::step])
    return value[::step][found.end() if found else 0 :][::step]


def _element(script: ShellScript, state: State, node: Node) -> Value:
    """``${name[index]}``, of an array of known words by a known number."""
    inner = [child for child in node.children[1].children if child.type not in ("[", "]")]
    words = state.array(script.text(inner[0]))
    number = arithmetic(script, state, inner[1]) if len(inner) == 2 else None
    if words is None or number is None or number < 0:
        return UNKNOWN
    return words[number] if number < len(words) else ""


def _variable(script: ShellScript, state: State, name: str) -> Value:
    if name in ("0", "BASH_SOURCE"):
        return UNKNOWN if script.path is None else os.path.abspath(script.path)
    if not name.isdecimal():
        return state.get(name)
    arguments = state.shell.arguments
    if arguments is None:
        return UNKNOWN
    number = int(name[:9])
    if 0 < number <= len(arguments):
        return arguments[number - 1]
    return UNKNOWN if UNKNOWN in all_arguments(state) else ""


def _substituted(script: ShellScript, state: State, node: Node) -> Value:
    """The output of a command that only computes a text."""
    if _COMPUTES.match(script.text(node)) is None:
        return UNKNOWN
    inner = [child for child in node.children if child.is_named]
    if len(inner) == 1 and inner[0].type == "list":
        inner = [child for child in inner[0].children if child.is_named]
    if len(inner) == 2:
        commands = [_command(script, state, child) for child in inner]
        if commands[0] and commands[0][0] == "cd" and commands[1] == ["pwd"]:
            folder = commands[0][-1]
            return os.path.normpath(folder) if os.path.isabs(folder) else UNKNOWN
    if len(inner) != 1:
        return UNKNOWN
    value = output(script, state, inner[0]).value
    return UNKNOWN if value is UNKNOWN or UNKNOWN_PART in value else value.rstrip("\n")


def output(script: ShellScript, state: State, node: Node) -> ShellVariable:
    """What a command prints that only computes a text, and where the text stands."""
    if node.type == "redirected_statement":
        documents = [each for each in node.children if each.type == "heredoc_redirect"]
        if len(documents) == 1 and script.text(node.children[0]).strip() == "cat":
            return given_text(script, state, documents[0])
        return NOT_KNOWN
    return ShellVariable(_printed(script, state, node), script.spot(node))


def given_text(script: ShellScript, state: State, node: Node) -> ShellVariable:
    """The text of a here-document or a here-string, as a shell that runs it has it."""
    if node.type == "herestring_redirect":
        value = leniently(script, state, node.children[-1])
        return ShellVariable(value, script.spot(node.children[-1]))
    if node.type == "process_substitution":
        return output(script, state, node.children[1])
    bodies = [each for each in node.children if each.type == "heredoc_body"]
    spot = script.spot(bodies[0] if bodies else node)
    return ShellVariable(heredoc(script, state, node, UNKNOWN_PART), spot)


def _printed(script: ShellScript, state: State, node: Node) -> Value:
    command = _command(script, state, node)
    if not command:
        return UNKNOWN
    name, arguments = command[0], command[1:]
    if name == "dirname" and len(arguments) == 1:
        before, slash, _ = arguments[0].rstrip("/").rpartition("/")
        return before.rstrip("/") or "/" if slash or arguments[0][:1] == "/" else "."
    if name == "basename" and len(arguments) == 1:
        return arguments[0].rstrip("/").rpartition("/")[2] or arguments[0][:1]
    if name in ("realpath", "readlink") and arguments and os.path.isabs(arguments[-1]):
        return os.path.normpath(arguments[-1])
    if name == "echo" and not any(argument.startswith("-") for argument in arguments):
        return " ".join(arguments)
    if name == "printf":
        return formatted(arguments)
    if name == "cat" and len(arguments) == 1:
        written = state.variables.get(file_key(arguments[0]), NOT_KNOWN)
        return written.value if written.certain else UNKNOWN
    if name == "seq" and 0 < len(arguments) <= 3:
        return _sequence(arguments)
    return UNKNOWN


def formatted(words: Sequence[Value]) -> Value:
    """What ``printf`` makes of a format and its arguments."""
    if not words or UNKNOWN in words:
        return UNKNOWN
    template, *arguments = (str(word) for word in words)
    template = template.replace("\\n", "\n").replace("\\t", "\t")
    parts = _DIRECTIVE.split(template)
    if any("%" in part or "\\" in part for part in parts[::2]):
        return UNKNOWN
    found: List[str] = []
    while True:
        for text, directive in zip(parts[::2], (*parts[1::2], "")):
            found.append(text)
            if directive == "%":
                found.append("%")
            elif directive:
                found.append(arguments.pop(0) if arguments else "0" * (directive != "s"))
        if not arguments or len(parts) == 1 or len(found) > _MOST_FIELDS:
            return "".join(found)


def _sequence(arguments: List[str]) -> Value:
    if not all(re.match(r"-?[0-9]{1,6}\Z", argument) for argument in arguments):
        return UNKNOWN
    numbers = [int(argument) for argument in arguments]
    first = 1 if len(numbers) == 1 else numbers[0]
    step = numbers[1] if len(numbers) == 3 else 1
    if step == 0 or abs(numbers[-1] - first) // abs(step) >= _MOST_FIELDS:
        return UNKNOWN
    last = numbers[-1] + (1 if step > 0 else -1)
    return "\n".join(str(number) for number in range(first, last, step))


def _command(script: ShellScript, state: State, node: Node) -> Optional[List[str]]:
    """The words of a simple command; None when one of them is not known."""
    if node.type != "command":
        return None
    words = (each.children[0] if each.type == "command_name" else each for each in node.children)
    found = together(fields_of(script, state, word) for word in words)
    return None if UNKNOWN in found else found  # type: ignore[return-value]


def arithmetic(script: ShellScript, state: State, node: Node) -> Optional[int]:
    """The value of an arithmetic expression; None when it is not known.

    What binds first is decided here: for the grammar ``-a + b`` is ``-(a + b)``.
    """
    numbers: List[int] = []
    signs = ["("]
    wants_number = True
    for term in (*_terms(script, state, node), ")"):
        if isinstance(term, int) and wants_number:
            numbers.append(term)
            wants_number = False
        elif wants_number and term in ("(", "+", "-"):
            signs.append("(" if term == "(" else "unary " + str(term))
        elif wants_number or term not in _ORDER:
            return None
        else:
            while signs[-1] != "(" and _ORDER[signs[-1]] >= _ORDER[term]:
                result = _applied(signs.pop(), numbers)
                if result is None:
                    return None
                numbers.append(result)
            if term == ")":
                signs.pop()
            else:
                signs.append(term)
                wants_number = True
    return None if signs else numbers[0]


def _terms(script: ShellScript, state: State, node: Node) -> Iterator[Union[int, str, None]]:
    """The numbers and the signs of an expression, in order; None for what is not known."""
    pending = [node]
    while pending:
        node = pending.pop()
        kind = node.type
        if kind in ("number", "word", "variable_name"):
            text = script.text(node)
            is_name = not text[:1].isdecimal() and NAME.match(text)
            yield _number(state.get(text) if is_name else text)
        elif kind in ("simple_expansion", "expansion", "command_substitution", "string"):
            yield _number(value_of(script, state, node))
        elif kind in _EXPRESSIONS:
            pending += [each for each in reversed(node.children) if each.type not in _AROUND]
        else:
            yield kind


_EXPRESSIONS = frozenset(
    [
        *("arithmetic_expansion", "binary_expression", "command", "command_name"),
        *("compound_statement", "parenthesized_expression", "unary_expression"),
    ]
)
_AROUND = ("((", "$((", "))", "$[", "]")


def _applied(sign: str, numbers: List[int]) -> Optional[int]:
    """What a sign makes of the last numbers, which it takes away."""
    right = numbers.pop()
    if sign.startswith("unary"):
        return -right if sign[-1] == "-" else right
    return _calculated(numbers.pop(), sign, right)


def _number(value: Value) -> Optional[int]:
    if value is UNKNOWN or _WHOLE.match(value) is None:
        return None
    return int(value) if value == "0" or value.lstrip("-")[0] != "0" else None


def _calculated(left: int, sign: str, right: int) -> Optional[int]:
    if sign in ("/", "%"):
        if right == 0:
            return None
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if sign == "/" else left - quotient * right
    calculate = _CALCULATE.get(sign)
    result = None if calculate is None else int(calculate(left, right))
    return None if result is None or abs(result) >= _LARGEST else result


_DIRECTIVE = re.compile("%([sdi%])")
_CALCULATE: Dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_LEVELS = (
    (")",),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    ("+", "-"),
    ("*", "/", "%"),
    ("unary +", "unary -"),
)
_ORDER = {sign: level for level, signs in enumerate(_LEVELS) for sign in signs}
_COMPARISONS = {"-eq": "==", "-ne": "!=", "-lt": "<", "-le": "<=", "-gt": ">", "-ge": ">="}


def calculation(node: Node) -> Optional[Node]:
    """What is calculated by ``(( ... ))``, in either grammar; None for other statements."""
    while node.type in ("command", "command_name") and len(node.children) == 1:
        node = node.children[0]
    children = node.children
    return children[1] if len(children) == 3 and children[0].type == "((" else None


def is_test(node: Node) -> bool:
    """Whether a statement is ``[ ... ]``, ``[[ ... ]]`` or ``(( ... ))``."""
    return node.type == "test_command" or calculation(node) is not None


def condition(script: ShellScript, state: State, node: Node) -> Optional[bool]:
    """Whether a test holds; None when it is not known."""
    calculated = calculation(node)
    if calculated is not None:
        number = arithmetic(script, state, calculated)
        return None if number is None else number != 0
    children = node.children
    if node.type == "test_command":
        return condition(script, state, children[1]) if len(children) == 3 else None
    if node.type == "unary_expression" and len(children) == 2:
        sign = script.text(children[0])
        if sign == "!":
            held = condition(script, state, children[1])
            return None if held is None else not held
        value = value_of(script, state, children[1])
        if value is UNKNOWN or sign not in ("-z", "-n"):
            return None
        return (value == "") == (sign == "-z")
    if node.type == "binary_expression" and len(children) == 3:
        sign = script.text(children[1])
        left = value_of(script, state, children[0])
        right = UNKNOWN if left is UNKNOWN else value_of(script, state, children[2])
        if left is UNKNOWN or right is UNKNOWN:
            return None
        if sign in ("=", "==", "!="):
            return None if _GLOB.search(right) else (left == right) == (sign != "!=")
        if sign in _COMPARISONS:
            one, two = _number(left), _number(right)
            if one is not None and two is not None:
                return bool(_calculated(one, _COMPARISONS[sign], two))
    return None
