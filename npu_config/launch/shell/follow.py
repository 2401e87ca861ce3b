"""A launch script followed to its end: what follows each statement.

Nothing is executed.  What a command of another program changes is not known, and what is not
known stays so: a variable that a loop or a command sets counts as set, with an unknown value.
"""

import functools
import re
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.message import phrase
from npu_config.core.settings import UNKNOWN
from npu_config.launch._rules import export_of_no_name
from npu_config.launch.environment.variables import VARIABLES
from npu_config.launch.shell.builtins import BUILTINS
from npu_config.launch.shell.commands import (
    MAKES_ITS_WORDS,
    MAKES_NOTHING,
    MOVES,
    Launch,
    may_start,
    processes_of,
    started,
)
from npu_config.launch.shell.syntax import Node, ShellScript, Spot, parts_of, place_of
from npu_config.launch.shell.walk import (
    DEEPEST,
    SILENT,
    Handler,
    Loader,
    ScriptRun,
    Step,
    alias_key,
    arguments_of,
    directives,
    follow_steps,
    names_in,
    once,
    program,
    several,
    start,
    statements,
    steps_of,
    text,
    unknown,
    unread,
)
from npu_config.launch.shell.words import (
    ARRAY_SEPARATOR,
    CHANGES,
    LONGEST,
    NAME,
    NOT_KNOWN,
    UNKNOWN_PART,
    ShellPath,
    ShellVariable,
    State,
    Value,
    all_arguments,
    arithmetic,
    assigned,
    braced,
    calculation,
    condition,
    defaults,
    fields_of,
    file_key,
    given_text,
    is_test,
    leniently,
    listed,
    output,
    possible,
    together,
    value_of,
)

_TEXTS = (
    *("string", "raw_string", "concatenation", "joined"),
    *("simple_expansion", "expansion", "command_substitution"),
)
_PLACEHOLDER = re.compile(r"\{[A-Za-z_]\w*\}|<[A-Za-z_ -]+>")
_SUBSTITUTED = re.compile(r"(?:\$\(|`)\s*([^\s()`]+)")


def assignment(run: ScriptRun, state: State, node: Node, export: bool = False) -> None:
    """``NAME=value``, ``NAME+=value``; elements of arrays are passed over."""
    script, children = run.script, node.children
    name_node = children[0]
    name = script.text(name_node)
    value_node = children[-1] if len(children) > 2 else None
    value = _kept(run, assigned(script, state, value_node))
    elements: Value = UNKNOWN
    if value is UNKNOWN and value_node is not None:
        elements = _elements(run, state, value_node)
        commands = _SUBSTITUTED.findall(script.text(value_node))
        run.programs = run.programs or not MAKES_NOTHING.issuperset(commands)
    if name_node.type != "variable_name" or NAME.match(name) is None:
        name = name.partition("[")[0]  # an element of an array
        variable = state.variables.get(name)
        if variable is not None:
            state.put(name, variable._replace(value=UNKNOWN, elements=UNKNOWN))
        return
    if len(children) > 1 and children[1].type == "+=":
        before = state.get(name)
        if before is UNKNOWN or value is UNKNOWN:
            value = UNKNOWN
        else:
            value = _kept(run, before + value)
        elements = _appended(state.elements(name), elements)
    spot = script.spot(node)
    if name in VARIABLES:
        run.needs_no_note(spot)
        if script is not run.first:
            run.has_passed(name, value)
    state.set(name, value, spot, export, elements)
    if value is UNKNOWN:
        maybe = defaults(script, state, value_node)
        if maybe:
            state.put(name, state.variables[name]._replace(maybe=maybe))


def _appended(before: Value, more: Value) -> Value:
    """The elements of an array with more behind them."""
    if before is UNKNOWN or more is UNKNOWN:
        return UNKNOWN
    return ARRAY_SEPARATOR.join(filter(None, (before, more)))


def _elements(run: ScriptRun, state: State, node: Node) -> Value:
    """The elements of an array in one text."""
    if node.type != "array":
        return UNKNOWN
    nodes = (child for child in node.children if child.is_named and child.type not in SILENT)
    words = together(listed(run.script, state, each) for each in nodes)
    if any(word is UNKNOWN or "[" in word or ARRAY_SEPARATOR in word for word in words):
        return UNKNOWN
    if words == [""]:  # its text would be that of no element
        return UNKNOWN
    return _kept(run, ARRAY_SEPARATOR.join(map(str, words)))


def _kept(run: ScriptRun, value: Value) -> Value:
    """A value, but not one that another script will write, and none that has grown too long."""
    if value is UNKNOWN or len(value) > LONGEST or _PLACEHOLDER.search(value) is not None:
        return UNKNOWN
    run.steps -= len(value) // 256
    return value


def declaration(run: ScriptRun, state: State, node: Node) -> None:
    """``export``, ``declare``, ``local``, ``readonly``, ``typeset``."""
    if (
        not run.locals
        and len(node.children) == 2
        and node.children[1].type == "variable_assignment"
    ):
        export = node.children[0].type == "export"
        assignment(run, state, node.children[1], export)
        return
    options = "".join(run.script.text(child) for child in node.children if child.type == "word")
    keyword = run.script.text(node.children[0])
    given, taken = (
        options.startswith("-"),
        "+x" in options or (keyword, "-n") == ("export", options),
    )
    export = not taken and (keyword == "export" or (given and "x" in options))
    refers = given and "n" in options and keyword != "export"
    is_own = bool(run.locals) and keyword in _MAKE_LOCAL and "g" not in options
    for child in parts_of(node)[1:]:
        spot = run.script.spot(child)
        if child.type in ("word", "concatenation") and "{" in run.script.text(child):
            words = braced(run.script.text(child))
            if len(words) > 1:
                source = " ".join((keyword, *options.split(), *words))
                text(run, state, source, place_of(spot))
                continue
        if child.type == "variable_assignment":
            if is_own:
                _own(run, state, run.script.text(child.children[0]))
            assignment(run, state, child, export)
            if refers or (given and "i" in options):
                _change(state, run.script.text(child.children[0]), spot, refers)
        elif child.type in ("word", "number") and run.script.text(child)[0] in "=0123456789":
            message = phrase('{} "{}": not a variable name', keyword, run.script.text(child))
            help = "write NAME=value without blanks"
            fault = export_of_no_name.diagnostic(message, place_of(spot), help=help)
            run.faults.setdefault(place_of(run.script.spot(node)), fault)
        elif child.type == "variable_name" and is_own:
            _own(run, state, run.script.text(child))
            state.forget([run.script.text(child)])  # a program still gets what it was
        elif child.type == "variable_name" and export:
            state.export(run.script.text(child), spot)
        elif child.type == "variable_name" and taken:
            state.forget_export(run.script.text(child))
        elif child.type in _TEXTS:
            _declared(run, state, child, export, is_own)


def _declared(run: ScriptRun, state: State, node: Node, export: bool, is_own: bool) -> None:
    """A word that says only once it is expanded what it declares: ``export "$NAME=1"``."""
    spot = run.script.spot(node)
    words = fields_of(run.script, state, node)
    if UNKNOWN in words and node.type == "string":
        words = [leniently(run.script, state, node)]
    for word in words:
        named, equals, value = ("", "", "") if word is UNKNOWN else word.partition("=")
        name = named[:-1] if named.endswith("+") else named
        if NAME.match(name) is None:
            if word is UNKNOWN or UNKNOWN_PART in named:
                state.forget()  # any of them may be set: export $(cat job.env)
                message = (
                    "the names of the variables set here are not known; these "
                    "variables are not checked"
                )
                run.note(spot, message)
            continue
        if is_own:
            _own(run, state, name)
        if equals:
            run.needs_no_note(spot)
            is_known = UNKNOWN_PART not in value and name == named
            state.set(name, value if is_known else UNKNOWN, spot, export)
        elif export:
            state.export(name, spot)


_MAKE_LOCAL = ("local", "declare", "typeset")


def _own(run: ScriptRun, state: State, name: str) -> None:
    """A variable of a function alone: what it was comes back at its end."""
    before = state.variables.get(name), name in state.shell.unset
    run.locals[-1].setdefault(name, before)


def _change(state: State, name: str, spot: Spot, refers: bool) -> None:
    """What a number or another name for a variable holds: ``declare -i``, ``declare -n``."""
    value = state.get(name)
    if not refers:
        if value is UNKNOWN or not value.isdecimal():
            state.set(name, UNKNOWN, spot)
    elif value is UNKNOWN:
        state.forget()
    else:
        state.set(value, UNKNOWN, spot)


def unset(run: ScriptRun, state: State, node: Node) -> None:
    """``unset NAME...``."""
    for child in node.children[1:]:
        if child.is_named:
            for name in fields_of(run.script, state, child):
                if name is not UNKNOWN and NAME.match(name):
                    state.remove(name)


_MOST_ROUNDS = 256
_BODIES = ("do_group", "compound_statement")
_LEAVES = re.compile(rb"\b(?:break|continue)\b")


def aside(run: ScriptRun, state: State, node: Node) -> None:
    """A process of its own: what it sets is gone afterwards."""
    begin = state.fork()
    statements(run, state, node.children)
    state.rollback(begin)


def pipeline(run: ScriptRun, state: State, node: Node) -> None:
    """``a | b``: each in a process of its own, with what the one before it prints."""
    before = run.stdin
    for child in node.children:
        if child.is_named:
            begin = state.fork()
            statements(run, state, [child])
            printed = output(run.script, state, child)
            if not _passes_on(run.script.text(child)):
                run.stdin = printed
            state.rollback(begin)
    run.stdin = before


def _passes_on(command: str) -> bool:
    return command.startswith(("tee ", "sudo tee "))


def list_(run: ScriptRun, state: State, node: Node) -> None:
    """``a && b``, ``a || b``: the second may not run."""
    children = [child for child in node.children if child.is_named]
    statements(run, state, children[:1])
    if len(children) < 2 or state.dead:
        return
    if is_test(children[0]):
        held = _holds(run, state, children[0])
        if held is not None:
            if held == any(child.type == "&&" for child in node.children):
                statements(run, state, children[1:])
            else:
                run.needs_no_note(run.script.spot(node))
            return
    state.join(_path(run, state, steps_of(run, children[1:])), state.empty_branch())


def _path(run: ScriptRun, state: State, steps: Sequence[Step]) -> ShellPath:
    """Follow statements that may not be reached."""
    begin = state.fork()
    follow_steps(run, state, steps)
    return state.rollback(begin)


def function(run: ScriptRun, state: State, node: Node) -> None:
    """``f() { ... }``: kept until it is called."""
    names = [child for child in node.children if child.type == "word"]
    bodies = [child for child in node.children if child.is_named and child.type != "word"]
    if names and bodies:
        found = (bodies[-1], run.script)
        state.writable_shell().functions[run.script.text(names[0])] = (found,)


def if_(run: ScriptRun, state: State, node: Node) -> None:
    """``if``: the branches that may be taken, joined."""
    paths: List[ShellPath] = []
    for test, steps, held in once(run, node, _arms):
        if test is not None and is_test(test):
            held = _holds(run, state, test)
        elif test is not None:
            statements(run, state, [test])
        if held is False:
            for _, each, _ in steps:
                run.needs_no_note(run.script.spot(each))
            continue
        paths.append(_path(run, state, steps))
        if held is True:
            break
    else:
        paths.append(state.empty_branch())
    state.join(*paths)


def _holds(run: ScriptRun, state: State, node: Node) -> Optional[bool]:
    """Whether a test holds, and what it changes: ``((A++))``."""
    is_calculated = run.script.source.startswith("((", node.start_byte)
    calculated = calculation(node) if is_calculated else None
    if calculated is not None and CHANGES.search(run.script.text(calculated)) is not None:
        count(run, state, calculated)
        return None
    return condition(run.script, state, node)


def test(run: ScriptRun, state: State, node: Node) -> None:
    """``[[ ... ]]`` does nothing; ``((A++))`` is one, too, for the older grammar."""
    calculated = calculation(node)
    if calculated is not None:
        count(run, state, calculated)


_Arm = Tuple[Optional[Node], List[Step], Optional[bool]]
"""A branch: its test, its statements, and True for that of ``else``."""


def _arms(run: ScriptRun, node: Node) -> List[_Arm]:
    arms: List[List[Node]] = [[]]
    last = ""
    for child in node.children:
        if child.type == "&":
            arms[0].append(child)
        elif child.is_named and child.type not in SILENT:
            last = child.type
            if last in ("elif_clause", "else_clause"):
                arms.append([c for c in child.children if c.is_named or c.type == "&"])
            else:
                arms[0].append(child)
    others = arms.pop() if last == "else_clause" else None
    found: List[_Arm] = [(*(arm[:1] or [None]), steps_of(run, arm[1:]), None) for arm in arms]
    return found if others is None else [*found, (None, steps_of(run, others), True)]


def case(run: ScriptRun, state: State, node: Node) -> None:
    """``case``: every branch, or none of them."""
    paths = [_path(run, state, steps) for steps in once(run, node, _items)]
    state.join(state.empty_branch(), *paths)


def _items(run: ScriptRun, node: Node) -> List[List[Step]]:
    return [
        steps_of(
            run, [part for part in child.children if part.type in run.handlers or part.type == "&"]
        )
        for child in node.children
        if child.type == "case_item"
    ]


class _For(NamedTuple):
    """The parts of a loop over words; ``words`` is None for one over the arguments."""

    name: str
    words: Optional[List[Node]]
    body: List[Node]
    leaves_early: bool


def _for(run: ScriptRun, node: Node) -> _For:
    body = [child for child in node.children if child.type in _BODIES]
    name = node.children[1]
    words: Optional[List[Node]] = None
    if _IN.match(run.script.source, name.end_byte) is not None:
        words = [child for child in node.children[2:] if child.is_named and child not in body]
    return _For(run.script.text(name), words, body, _leaves_early(run, body))


_IN = re.compile(r"(?:\s|\\\n|#[^\n]*\n)*in\b")


def for_(run: ScriptRun, state: State, node: Node) -> None:
    """``for x in ...``: round by round where the words are known."""
    loop = once(run, node, _for)
    words = all_arguments(state)
    if loop.words is not None:
        words = together(listed(run.script, state, each) for each in loop.words)
        run.steps -= len(words) // 16
    spot = run.script.spot(node.children[1])
    if UNKNOWN in words or len(words) > _MOST_ROUNDS or loop.leaves_early:
        before = len(run.launches)
        _loop_of_unknown_rounds(run, state, loop.body, loop.name)
        if _starts_ranks(run, loop.body, run.launches[before:]):
            message = (
                "the number of iterations of this loop is unknown; npu_config does not check "
                "whether the ranks that this loop starts share a device"
            )
            run.note(spot, message)
        return
    run.counted += 1
    number = run.counted
    for rounds, word in enumerate(words):
        state.set(loop.name, word, spot)
        _round(run, state, loop.body, (number, rounds))
        if state.dead:
            return


def _starts_ranks(run: ScriptRun, body: Sequence[Node], launches: Sequence[Launch]) -> bool:
    """Whether the rounds of a loop start ranks beside each other, all of them on one device."""
    begin, end = (body[0].start_byte, body[-1].end_byte) if body else (0, 0)
    if _IN_BACKGROUND.search(run.script.data, begin, end) is None:
        return False
    return any(
        each.kind == "python"
        and each.environment.get("RANK_ID") is UNKNOWN
        and each.environment.get("ASCEND_DEVICE_ID", UNKNOWN) is not UNKNOWN
        for each in launches
    )


_IN_BACKGROUND = re.compile(rb"(?<![&>])&(?![&>\d])")


def _leaves_early(run: ScriptRun, body: Sequence[Node]) -> bool:
    return any(
        _LEAVES.search(run.script.data[part.start_byte : part.end_byte]) is not None
        for part in body
    )


def _round(
    run: ScriptRun, state: State, body: Sequence[Node], number: Optional[Tuple[int, int]]
) -> None:
    run.loops.append(number)
    for part in body:
        several(run, state, part)
    run.loops.pop()


def c_for(run: ScriptRun, state: State, node: Node) -> None:
    """``for ((...))``: round by round where the numbers are known."""
    body = [child for child in node.children if child.type in _BODIES]
    parts: List[List[Node]] = [[], [], []]
    number = 0
    for child in node.children:
        if child.type == ";" and number < 2:
            number += 1
        elif child.is_named and child not in body:
            parts[number].append(child)
    for child in parts[0]:
        count(run, state, child)
    if not parts[0] and not parts[1] and body:  # it may be hidden from the grammar
        run.needs_no_note((run.script, node.start_byte, body[0].start_byte))
        for name in CHANGES.findall(run.script.source, node.start_byte, body[0].start_byte):
            state.set(name, UNKNOWN, run.script.spot(node))

    def holds() -> Optional[bool]:
        held = arithmetic(run.script, state, parts[1][0]) if len(parts[1]) == 1 else None
        return None if held is None else held != 0

    _rounds(run, state, body, holds, parts[2])


def _rounds(
    run: ScriptRun,
    state: State,
    body: Sequence[Node],
    holds: Callable[[], Optional[bool]],
    counts: Sequence[Node] = (),
    tests: Sequence[Node] = (),
) -> None:
    """Follow a loop round by round, as long as it is known whether there is one more.

    Args:
        body: what a round does.
        holds: whether there is one more round; None where that is not known.
        counts: what is computed after each.
        tests: what runs before each where it is not known whether there is one.
    """
    run.counted += 1
    loop = run.counted
    leaves_early = _leaves_early(run, body)
    for rounds in range(_MOST_ROUNDS):
        held = None if leaves_early else holds()
        if held is None:
            break
        if not held:
            return
        _round(run, state, body, (loop, rounds))
        if state.dead:
            return
        for child in counts:
            count(run, state, child)
    if tests:
        state.forget(name for each in tests for name in names_in(run.script.spot(each)))
        statements(run, state, tests)
    _loop_of_unknown_rounds(run, state, body)


def count(run: ScriptRun, state: State, node: Node) -> None:
    """``i=0``, ``i++``, ``i+=2`` in the head of a loop, or in ``((...))``."""
    text = run.script.text(node)
    run.needs_no_note(run.script.spot(node))
    match = _COUNT.match(text)
    if match is None or len(CHANGES.findall(text)) > 1:
        unknown(run, state, node)
        return
    name, operator = match.group(1), match.group(2)
    before = _whole(state.get(name))
    if operator == "=":
        value = arithmetic(run.script, state, node.children[-1])
    else:
        step: Optional[int] = 1
        if operator in ("+=", "-="):
            step = arithmetic(run.script, state, node.children[-1])
        if before is None or step is None:
            value = None
        else:
            value = before + step if operator[0] == "+" else before - step
    state.set(name, UNKNOWN if value is None else str(value), run.script.spot(node))


_COUNT = re.compile(r"\s*([A-Za-z_]\w*)\s*(\+\+\s*\Z|--\s*\Z|\+=|-=|=(?!=))")


def _whole(value: Value) -> Optional[int]:
    return None if value is UNKNOWN or not re.match(r"-?[0-9]{1,18}\Z", value) else int(value)


def while_(run: ScriptRun, state: State, node: Node) -> None:
    """``while`` and ``until``."""
    body = [child for child in node.children if child.type == "do_group"]
    tests = [child for child in node.children if child.is_named and child not in body]
    run.programs = True  # it may wait for a file that another program makes
    reads = len(tests) == 1 and _READS.match(run.script.text(tests[0])) is not None

    def holds() -> Optional[bool]:
        if reads:
            if run.stdin is None or run.stdin.value is UNKNOWN:
                return None
            is_left = run.stdin.value != ""
            statements(run, state, tests)
            return is_left
        is_one = len(tests) == 1 and calculation(tests[0]) is None
        is_one = is_one or (len(tests) == 1 and CHANGES.search(run.script.text(tests[0])) is None)
        held = condition(run.script, state, tests[0]) if is_one else None
        return None if held is None else held == (node.children[0].type == "while")

    if reads and any(_READS.search(run.script.text(part)) for part in body):
        run.stdin = None
    _rounds(run, state, body, holds, tests=tests)
    if reads:
        run.stdin = None


def _loop_of_unknown_rounds(
    run: ScriptRun, state: State, body: Sequence[Node], name: Optional[str] = None
) -> None:
    """Nobody knows how often: what the body sets is not known before it, and maybe set after."""
    begin = state.fork()
    run.stdin = None  # each round may read a part of it
    changed = {changed for part in body for changed in names_in(run.script.spot(part))}
    state.forget(changed)
    if name is not None and body:
        state.set(name, UNKNOWN, run.script.spot(body[0]))
    _round(run, state, body, None)
    kept = {each: state.variables[each].exported for each in changed & state.variables.keys()}
    state.join(state.rollback(begin), state.empty_branch())
    for changed_name, exported in kept.items():
        variable = state.variables.get(changed_name)
        if variable is not None:
            # A loop that exists runs: what it sets counts as set, with an unknown value.
            variable = variable._replace(value=UNKNOWN, certain=True, exported=exported)
            state.put(changed_name, variable)


_READS = re.compile(r"(?:IFS=\S{0,8}[ \t]{1,8})?\bread\b")
_HEAD = re.compile(r"([\w./+-]+)(?:[ \t]|\Z)")
_TABLE = re.compile(r"\.json|RANK_TABLE")
_COMPUTED = re.compile(r"\$\(\(|\$\{\w+:?=")
_MENTIONS = re.compile(
    r"p(?<![^\s/\"'].)ython[0-9.]{0,8}[ \t]|b(?<![^\s/\"'].)ash[ \t]|s(?<![^\s/\"'].)h[ \t]"
    r"|=(?<=\w.)|" + _TABLE.pattern
)
"""A text is looked through faster for alternatives that begin with a character each."""
_PLAIN = re.compile(r"[\w./+:=,-]+(?:[ \t]+[\w./+:=,-]+)*\Z", re.ASCII)
"""A command, or the text of an alias, that is nothing but words as they stand."""
_LINE_END = re.compile(r"(?<!\\)\n")
_TO_FILE = re.compile(r"(?:(&?[0-9]*>{1,2})[ \t]*([\w./+-]+)|[0-9]*>&[ \t]*[0-9-]+)\Z")
"""A redirection to a file with a plain name, or into another stream."""


class _Redirected(NamedTuple):
    """A statement with redirections.

    ``files`` are the paths that it writes to, or their nodes, and the sign before each;
    ``document`` is the only here-document of a ``cat``, and ``prints`` a command that prints
    assignments; ``stdin`` is what it is given to read, and ``after`` what stands behind the
    mark of the here-document.
    """

    files: List[Tuple[Any, str]]
    document: Optional[Node]
    steps: List[Step]
    stdin: Optional[Node]
    after: List[Node]
    reads: bool
    prints: Optional[Node]


def _redirected(run: ScriptRun, node: Node) -> _Redirected:
    text, children = run.script.text, node.children
    first = text(children[0])
    files: List[Tuple[Any, str]] = []
    documents: List[Node] = []
    others: List[Node] = []
    given: Optional[Node] = None
    substituted: Optional[Node] = None
    reads = False
    for child in children:
        redirects: Sequence[Node] = (child,)
        if child.type != "file_redirect":
            others.append(child)
            words = text(child)
            if "<" not in words and ">" not in words:
                continue
            redirects = (child, *child.children)
            given = child if child.type in _GIVEN else given
        for redirect in redirects:
            kind, words = redirect.type, text(redirect)
            is_read = words.startswith("<")
            reads = reads or is_read
            if kind == "heredoc_redirect":
                documents.append(redirect)
            elif kind == "file_redirect":
                match = _TO_FILE.match(words)
                if match is None and ">" in words:
                    sign = words[:2] if words[:2] == ">>" else words[:1]
                    files.append((redirect.children[-1], sign))
                elif match is not None and match.group(2):
                    files.append((match.group(2), match.group(1)))
                for each in redirect.children if is_read else ():
                    substituted = each if each.type == "process_substitution" else substituted
    after = [
        child
        for each in documents
        for child in each.children
        if child.type in run.handlers and child.type not in SILENT
    ]
    return _Redirected(
        files,
        documents[0] if len(documents) == 1 and first.strip() == "cat" else None,
        steps_of(run, others),
        given if substituted is None else substituted,
        after,
        reads,
        children[0] if files and _PRINTS.match(first) else None,
    )


_PRINTS = re.compile(r"(?:echo|printf)\b.*[A-Za-z_]=", re.DOTALL)
_GIVEN = ("heredoc_redirect", "herestring_redirect")


def redirected(run: ScriptRun, state: State, node: Node) -> None:
    """A statement with redirections: the files that it writes, with their text if known."""
    files, document, steps, stdin, after, reads, prints = once(run, node, _redirected)
    for target, sign in files:
        path = target
        if not isinstance(target, str):
            path = value_of(run.script, state, target)
        if path is UNKNOWN:
            run.programs = True
            continue
        run.written.add(path.rpartition("/")[2])
        content = NOT_KNOWN
        if sign in (">", ">>") and document is not None:
            content = given_text(run.script, state, document)
        elif sign in (">", ">>") and prints is not None:
            printed = output(run.script, state, prints)
            if printed.value is not UNKNOWN:
                content = ShellVariable(printed.value + "\n", printed.spot)
        if sign == ">>" and content.value is not UNKNOWN:
            old = state.variables.get(file_key(path), NOT_KNOWN)
            value = UNKNOWN if old.value is UNKNOWN else old.value + content.value
            content = ShellVariable(value, old.spot, False, old.certain)
        run.texts = run.texts or content.value is not UNKNOWN
        if run.texts:
            state.put(file_key(path), content)
    before = run.stdin
    if stdin is not None:
        run.stdin = given_text(run.script, state, stdin)
    elif reads:
        run.stdin = None
    is_piped = any(each.type == "pipeline" for each in after)  # and so a process of its own
    begin = state.fork() if is_piped else None
    follow_steps(run, state, steps)
    if begin is not None:
        state.rollback(begin)
    for each in after:
        if each.type == "pipeline":  # cat <<EOF | bash
            run.stdin = run.stdin if document is not None else None
            pipeline(run, state, each)
        else:
            state.join(_path(run, state, steps_of(run, [each])), state.empty_branch())
    run.stdin = before


def _is_quiet(run: ScriptRun, state: State, name: str, words: str) -> bool:
    """Whether the words of a command do not matter; what it may do is noted then."""
    if state.shell.expands_aliases and alias_key(name) in state.variables:
        return False
    makes = name in MAKES_ITS_WORDS and (not run.programs or _TABLE.search(words) is not None)
    if makes or run.texts or name in state.shell.functions or _COMPUTED.search(words):
        return False
    if name not in MAKES_NOTHING:
        if _MENTIONS.search(words) is not None:
            return False
        run.programs = True
    run.moved = run.moved or name in MOVES
    return True


def command(run: ScriptRun, state: State, node: Node) -> None:
    """A call of a function, a built-in command, or a program."""
    if node.start_byte in run.script.unread:
        unread(run, state, node)
        return
    whole = run.script.text(node)
    head = _HEAD.match(whole)
    if head is not None and not _may_do_more(head[1]) and _is_quiet(run, state, head[1], whole):
        return
    if head is not None and _PLAIN.match(whole) is not None:
        _apply(run, state, run.script.spot(node), [*whole.split()], {})
        return
    calculated = calculation(node) if head is None else None
    if calculated is not None:  # so the older grammar
        count(run, state, calculated)
        return
    script, start, end = run.script, node.start_byte, node.start_byte
    added: Dict[str, ShellVariable] = {}
    nodes: List[Node] = []
    before, is_given = run.stdin, False
    for child in parts_of(node):
        kind = child.type
        if kind == "herestring_redirect":
            run.stdin, is_given = given_text(script, state, child), True
        elif kind == "variable_assignment":
            name = script.text(child.children[0])
            value = child.children[-1] if len(child.children) > 2 else None
            run.needs_no_note(script.spot(child))
            given = _kept(run, assigned(script, state, value))
            if script is not run.first:
                run.has_passed(name, given)
            maybe = defaults(script, state, value) if given is UNKNOWN else ()
            added[name] = ShellVariable(given, script.spot(child), True, maybe=maybe)
            end = child.end_byte
        elif kind == "command_name":
            if added and _LINE_END.search(script.source, end, child.start_byte) is not None:
                # The grammar takes several assignments for a part of what the next line says.
                for name, (value, spot, *_) in added.items():
                    state.set(name, value, spot)
                start, added = child.start_byte, {}
                if script.text(child) in ("{", "case"):
                    unknown(run, state, node)
                    return
            nodes.append(child.children[0])
        elif kind not in SILENT and child.is_named:
            assigns = None if nodes else _ASSIGNS.match(script.source, child.start_byte)
            if assigns is not None:  # the grammar took a part of the value before it for a command
                added[assigns[1]] = ShellVariable(UNKNOWN, script.spot(child), True)
            else:
                nodes.append(child)
    if added and not nodes:  # the grammar took a part of the value for the command
        for child in parts_of(node):
            if child.type == "variable_assignment":
                assignment(run, state, child)
        return
    words = together(fields_of(script, state, each) for each in nodes)
    if words[:1] == ["set"] or words[0] in state.shell.functions:
        words = together(listed(script, state, each) for each in nodes)
    elif UNKNOWN in words and words[0] in _TAKE_TEXTS:
        words = together(_lenient_fields(script, state, each) for each in nodes)
    run.words = nodes
    _apply(run, state, (script, start, node.end_byte), words, added)
    if is_given:
        run.stdin = before


_ASSIGNS = re.compile(r"([A-Za-z_]\w*)\+?=")


def _lenient_fields(script: ShellScript, state: State, node: Node) -> List[Value]:
    """The fields of a word; a text for a shell is known even if not all of it is."""
    if node.type in ("string", "concatenation") and " " in script.text(node):
        return [leniently(script, state, node)]
    return fields_of(script, state, node)


_TAKE_TEXTS = frozenset(
    [
        "bash",
        "clush",
        "docker",
        "kubectl",
        "nohup",
        "parallel",
        "pdsh",
        "podman",
        "sh",
        "ssh",
        "sshpass",
        "su",
        "sudo",
        "timeout",
    ]
)


def _apply(
    run: ScriptRun, state: State, spot: Spot, words: List[Value], added: Dict[str, ShellVariable]
) -> None:
    if not words:  # A=1 $EMPTY
        for name, (value, where, *_) in added.items():
            state.set(name, value, where)
        return
    run.steps -= len(words) // 16
    while words[0] in ("command", "builtin") and words[1:2] != ["-v"] and len(words) > 1:
        words = words[1:]
    first = words[0]
    if first is not UNKNOWN and state.shell.expands_aliases:
        meant = state.variables.get(alias_key(first))
        if meant is not None:
            plain = meant.certain and meant.value is not UNKNOWN and _PLAIN.match(meant.value)
            words = [*(str(meant.value).split() if plain else [UNKNOWN]), *words[1:]]
            first = words[0]
    if first is UNKNOWN:
        run.programs = True
        program(run, state, spot, added)
        if added and arguments_of(run, state, words)[1]:  # there may be no command
            begin = state.fork()
            _apply(run, state, spot, [], added)
            state.join(state.rollback(begin), state.empty_branch())
        return
    run.moved = run.moved or first in MOVES
    if first in state.shell.functions or first in BUILTINS:
        before = {name: state.variables.get(name) for name in added}
        for name, given in added.items():  # IFS=: read -r a b
            state.put(name, given)
        if first in state.shell.functions:
            _call(run, state, first, words[1:])
        else:
            BUILTINS[first](run, state, spot, words[1:])
        for name, variable in before.items():
            state.put(name, variable)
    else:
        found = started(words)
        if found is not None:
            number = len(run.launches)
            start(run, state, spot, found, added)
            _several_times(run, number, words)
            if UNKNOWN not in words and found.kind not in ("shell", "text"):
                run.needs_no_note(spot)
        elif not VARIABLES.keys().isdisjoint(added):
            program(run, state, spot, {n: v for n, v in added.items() if n in VARIABLES})
        for path in words if run.texts else ():
            if path is not UNKNOWN and file_key(path) in state.variables:
                state.put(file_key(path), NOT_KNOWN)
        if first not in MAKES_NOTHING and run.background is None:
            _may_write(run, words[1:])
        if first in MAKES_ITS_WORDS:
            _make(run, words[1:])
        elif found is None or found.kind not in ("shell", "text", "python-text"):
            # What a program makes need not stand in its words: unknown is not wrong.
            run.programs = run.programs or first not in MAKES_NOTHING


def _may_write(run: ScriptRun, words: Sequence[Value]) -> None:
    """A program may write the tables that it is given: ``python3 make.py table.json``."""
    for word in words:
        if word is not UNKNOWN and word.endswith(".json"):
            run.written.add(word.rpartition("/")[2])


def _make(run: ScriptRun, words: Sequence[Value]) -> None:
    """``cp``, ``mv``, ``tee`` and the like; what they make of a folder's content is not known."""
    for word in words:
        if word is UNKNOWN or "{" in word or word.endswith(("/.", "..")):
            run.programs = True
        elif not word.startswith("-"):
            run.made.add(word.rstrip("/").rpartition("/")[2])


def _several_times(run: ScriptRun, before: int, words: Sequence[Value]) -> None:
    """What ``srun -n 8`` starts is started eight times, with one environment."""
    if words[0] not in _START_COPIES or ":" in words:
        return
    count = processes_of(words[1:])
    copies = int(count[:9]) if count is not UNKNOWN and count.isdecimal() else 1
    if copies > 1:
        run.launches[before:] = [each._replace(copies=copies) for each in run.launches[before:]]


_START_COPIES = ("mpiexec", "mpirun", "orterun", "srun")


def _call(run: ScriptRun, state: State, name: str, words: Sequence[Value]) -> None:
    """Follow a function, each that it may be."""
    bodies = state.shell.functions[name]
    if run.depth >= DEEPEST:
        state.forget()
        return
    arguments, more = arguments_of(run, state, words)
    paths: List[ShellPath] = []
    for each in bodies:
        begin = state.fork() if len(bodies) > 1 else None
        if each is not None:
            _enter(run, state, each, arguments, more)
        if begin is not None:
            paths.append(state.rollback(begin))
    if paths:
        state.join(*paths)


def _enter(
    run: ScriptRun,
    state: State,
    function: Tuple[Node, ShellScript],
    arguments: Tuple[Value, ...],
    more: bool,
) -> None:
    """Follow the body of a function."""
    body, script = function
    run.depth += 1
    before = state.shell.arguments, state.shell.more
    shell = state.writable_shell()
    shell.arguments, shell.more = arguments, more
    caller, run.script = run.script, script
    run.locals.append({})
    if run.line is not None and not run.line.in_background:
        run.joined = run.line
    run.handlers.get(body.type, unknown)(run, state, body)
    for own, (variable, is_unset) in run.locals.pop().items():
        state.put(own, variable)
        if is_unset:
            state.writable_shell().unset.add(own)
    state.dead = "" if state.dead == "return" else state.dead
    if b"return" in script.data[body.start_byte : body.end_byte]:
        for name in names_in(script.spot(body)):
            variable = state.variables.get(name)
            if variable is not None:
                maybe = possible(variable)
                state.put(
                    name,
                    ShellVariable(
                        UNKNOWN, variable.spot, variable.exported, False, UNKNOWN, maybe
                    ),
                )
    shell = state.writable_shell()
    shell.arguments, shell.more = before
    run.script = caller
    run.depth -= 1


@functools.lru_cache(maxsize=1024)
def _may_do_more(name: str) -> bool:
    """False for the name of a program that certainly starts no training."""
    return name in BUILTINS or may_start(name)


HANDLERS: Dict[str, Handler] = {
    "program": several,
    "do_group": several,
    "compound_statement": several,
    "redirected_statement": redirected,
    "negated_command": several,
    "subshell": aside,
    "pipeline": pipeline,
    "list": list_,
    "variable_assignment": assignment,
    "variable_assignments": several,
    "declaration_command": declaration,
    "unset_command": unset,
    "command": command,
    "function_definition": function,
    "if_statement": if_,
    "case_statement": case,
    "for_statement": for_,
    "c_style_for_statement": c_for,
    "while_statement": while_,
    "test_command": test,
    "postfix_expression": count,
    "binary_expression": count,
    "unary_expression": count,
}


def follow(script: ShellScript, load: Loader) -> Tuple[ScriptRun, State]:
    """Follow a script to its end.

    Args:
        script: the script.
        load: gives the text of a file that the script names, None when it is not to be had.

    Returns:
        What it starts, and what is set at its end.
    """
    run, state = ScriptRun(script, load, HANDLERS), State()
    directives(run, state)
    try:
        several(run, state, script.root)
    except RecursionError:  # nested deeper than any script that a person wrote
        state.forget()
        run.note(script.spot(script.root), "the script is nested too deeply and is not checked")
    return run, state
