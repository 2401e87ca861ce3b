"""What a migration has decided so far: edits, notes, and the names that it needs."""

import ast
import re
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.diagnostics import Diagnostic, Severity
from npu_config.core.message import phrase
from npu_config.migration.facts import facts, url_of
from npu_config.migration.reached import Reach, Reached
from npu_config.migration.resolve import Resolver
from npu_config.python_flow.module import Site, sites
from npu_config.python_flow.scopes import (
    FUNCTIONS,
    Nesting,
    arguments,
    first_line,
    last_line,
    name_of,
)
from npu_config.python_flow.source import HAS_ENDS

__all__ = [
    "CHANGED",
    "MANUAL",
    "OFF",
    "REFUSED",
    "Replacement",
    "Note",
    "Work",
    "is_wrapped",
    "Rule",
    "Rules",
    "called",
    "of_calls",
]

CHANGED, REFUSED, MANUAL = "changed", "refused", "manual"


class Note(NamedTuple):
    """One entry of the report: a line of the input, the fact, what became of it, and why.

    ``asks`` says whether something has to be done; None: as the fact says.  ``found`` is the
    finding of ``check`` that it tells, whose rule stands for the fact then.
    """

    line: int
    id: str
    kind: str
    note: str
    asks: Optional[bool] = None
    found: Optional[Diagnostic] = None

    @property
    def severity(self) -> Severity:
        """``ERROR`` and ``WARNING`` ask for something to be done, ``INFO`` for nothing."""
        if self.kind == CHANGED or self.asks is False:
            return Severity.INFO
        if self.found is not None:
            return self.found.severity
        return max(facts()[self.id].severity, Severity.WARNING if self.asks else Severity.INFO)

    @property
    def must(self) -> bool:
        """True when something has to be done by hand."""
        return self.severity is not Severity.INFO

    @property
    def url(self) -> str:
        """The page that explains it."""
        return url_of(self.id) if self.found is None else self.found.url or ""

    @property
    def situation(self) -> Optional[str]:
        """The documented trouble that it is about, if it is one."""
        return facts()[self.id].situation if self.found is None else self.found.situation

    @property
    def text(self) -> str:
        """What is said of it: the note, or what the fact is called."""
        return self.note or facts()[self.id].title


class Replacement(NamedTuple):
    """One replacement of the characters between two offsets."""

    start: int
    end: int
    text: str


class Work:
    """The migration of one script.

    Args:
        script: the script.
        package: the package whose names are imported.
        keeper: why Horovod has to stay: another file of the program keeps or takes it.
        partial: what depends on something that is refused is edited all the same.
        borrowed: the name of Horovod that it takes from another file of the program.

    Attributes:
        used: the names of npu_init that the edits use.
        patch_lines: the lines on which sessions are made that no edit configures.
        blocked: True when something is refused without which the script cannot run.
        forced: True when something is edited though it depends on what is refused.
        closed: the lines of functions that something is refused in without which they cannot run.
        is_keras: True when models of Keras are made.
        libraries: the packages that make sessions of their own.
        makers: the functions that give a session, and that nothing in the script calls.
    """

    def __init__(
        self,
        script: Resolver,
        package: str,
        keeper: str = "",
        partial: bool = False,
        borrowed: str = "",
    ) -> None:
        self.script = script
        self.package = package
        self.keeper = keeper
        self.partial = partial
        self.borrowed = borrowed
        self.reached = Reached(script)
        self.changes: List[Replacement] = []
        self.used: List[str] = []
        self.modules: List[str] = []
        self.patch_lines: List[int] = []
        self.blocked = False
        self.forced = False
        self.closed: List[Tuple[int, int]] = []
        self.is_keras = False
        self.libraries: List[str] = []
        self.makers: List[str] = []
        self._notes: Dict[Tuple[int, str, str], Note] = {}
        self._aliases: Dict[str, str] = {}

    @property
    def notes(self) -> List[Note]:
        """The entries, in order of the lines; what is said twice of a line is said once."""
        return sorted(self._notes.values(), key=lambda note: note.line)

    def settle_off(self) -> None:
        """Let what is off by default ask for nothing."""
        asking = {key: note for key, note in self._notes.items() if note.must}
        if self.blocked or not asking:
            return
        reaches: Dict[int, Reach] = {}
        lines = sorted({note.line for note in asking.values()})
        for site in sites(self.script.module, lines, _REACHED):
            reach = self.reached.of(site)
            reaches[site.line] = max(reach, reaches.get(site.line, reach))
        for key, note in asking.items():
            if reaches.get(note.line) is Reach.OFF:
                self._notes[key] = note._replace(asks=False)

    def note(
        self, line: int, id: str, kind: str, text: str = "", asks: Optional[bool] = None
    ) -> None:
        """Add an entry to the report; ``asks``: whether something has to be done."""
        self.enter(Note(line, id, kind, text, asks))

    def settle(self, line: int, situation: Optional[str]) -> None:
        """Take back what is left to do about a trouble on a line: it is mended."""
        for key, note in list(self._notes.items()):
            is_there = (note.line, note.situation) == (line, situation)
            if is_there and note.kind != CHANGED:
                del self._notes[key]

    def enter(self, note: Note) -> None:
        """Add an entry to the report."""
        key = (note.line, note.id, note.kind)
        if key not in self._notes or (note.note and not self._notes[key].note):
            self._notes[key] = note

    def changed(self, line: int, id: str, text: str = "") -> None:
        """Something was edited."""
        self.note(line, id, CHANGED, text)

    def manual(self, line: int, id: str, text: str = "", asks: Optional[bool] = None) -> None:
        """Something is left for the user to do, or to know."""
        self.note(line, id, MANUAL, text, asks)

    def refuse(self, line: int, id: str, text: str, blocks: bool = False) -> None:
        """Something is not edited; ``blocks``: and nothing else in the file is."""
        self.note(line, id, REFUSED, text)
        self.blocked = self.blocked or blocks

    def depend(self, site: Site, id: str, text: str) -> None:
        """Something has no counterpart on the NPU: what depends on it is not edited, either.

        That is nothing under a condition, the function where nothing in the script runs it, and
        else the whole script.
        """
        reach = self.reached.of(site)
        if reach <= Reach.MAYBE:
            tail = OFF if reach is Reach.OFF else _CONDITIONAL
            self.manual(site.line, id, phrase("{}; {}", text, tail), asks=reach is Reach.MAYBE)
        elif self.partial:
            self.forced = True
            self.refuse(site.line, id, phrase("{}; {}", text, _PARTIAL))
        elif reach is Reach.FUNCTION:
            outer = next(node for node in site.parents if isinstance(node, FUNCTIONS))
            self.closed.append((first_line(outer), last_line(outer)))
            self.refuse(site.line, id, phrase("{}; {}", text, _OF_FUNCTION))
        else:
            self.refuse(site.line, id, text, blocks=True)

    def needs_patch(self, site: Site) -> None:
        """A session is made that only the import of npu_init configures."""
        self.patch_lines.append(site.line)

    def block(self) -> None:
        """Take every edit back: what would have been changed is left to do by hand."""
        last = len(self.script.source.lines)
        self.closed.append((1, last))
        self.close()

    def close(self) -> None:
        """Take the edits back that are in closed functions."""
        if not self.closed:
            return
        around = Nesting((first, last, True) for first, last in self.closed)

        def is_closed(line: int) -> bool:
            return any(around.around(line))

        position = self.script.position
        self.changes = [one for one in self.changes if not is_closed(position(one.start)[0])]
        self.patch_lines = [line for line in self.patch_lines if not is_closed(line)]
        notes, self._notes = self.notes, {}
        for note in notes:
            if note.kind != CHANGED or not is_closed(note.line):
                self._notes[(note.line, note.id, note.kind)] = note
            elif note.id not in ("import-npu", "hvd-shutdown"):
                text = phrase("{}: {}", _LATER, note.note) if note.note else _LATER
                self.manual(note.line, note.id, text)

    # Names

    def name(self, name: str) -> str:
        """A name of npu_init as this script can write it."""
        if name not in self.used:
            self.used.append(name)
        return self._alias(name)

    def _alias(self, name: str) -> str:
        found = self._aliases.get(name)
        if found is None:
            taken = self.script.binds(name)
            found = self._aliases[name] = self.free(name) if taken else name
        return found

    def free(self, name: str) -> str:
        """A name that the script does not mention: the given one, or one with a number."""
        words = self.script.words
        candidate, number = name, 0
        while candidate in words:
            number += 1
            candidate = "{}_{}".format(name, number)
        return candidate

    @property
    def renamed(self) -> Dict[str, str]:
        """The names that are imported under another one."""
        return {name: alias for name, alias in self._aliases.items() if alias != name}

    # Edits

    def replace(self, start: int, end: int, text: str) -> None:
        """Replace the characters between two offsets."""
        self.changes.append(Replacement(start, end, text))

    def insert(self, offset: int, text: str) -> None:
        """Insert before an offset."""
        self.changes.append(Replacement(offset, offset, text))

    def replace_node(self, node: ast.AST, text: str) -> None:
        """Replace an expression; the comments in a name of several lines stay behind it."""
        start, end = self.script.span(node)
        kept, gap = self.comments(start, end) if isinstance(node, ast.Attribute) else ("", "")
        self.replace(start, end, text + kept + gap)

    def wrap(self, node: ast.expr, before: str, after: str = ")") -> None:
        """Write something around an argument, within its own brackets."""
        start, end = self.script.span(node)
        if type(node).__name__ in ("NamedExpr", "Yield", "YieldFrom", "GeneratorExp"):
            before, after = before + "(", ")" + after
        self.insert(start, before)
        self.insert(end, after)

    def argument_spans(self, call: ast.Call) -> List[Tuple[ast.expr, int, int]]:
        """The arguments of a call in order, with their names and brackets."""
        found: List[Tuple[ast.expr, int, int]] = []
        at = self.open_of(call)
        values = arguments(call)
        spans = sorted((*self.script.span(node), number) for number, node in enumerate(values))
        for first, end, number in spans:
            at = self.skip(at)
            while self.script.text[at] == ",":
                at = self.skip(at + 1)
            found.append((values[number], at, self._closed(end, self._opened(at, first))))
            at = found[-1][2]
        return found

    def argument_span(self, call: ast.Call, value: ast.expr) -> Tuple[int, int]:
        """Where an argument begins and ends, with its name and brackets."""
        return next((a, b) for node, a, b in self.argument_spans(call) if node is value)

    def value_span(self, call: ast.Call, keyword: ast.keyword) -> Tuple[int, int, int]:
        """Where a keyword begins, and where its value begins and ends with all its brackets."""
        text, name = self.script.text, keyword.arg or ""
        first, end = self.argument_span(call, keyword.value)
        assert text.startswith(name, first)
        value = self.skip(first + len(name)) + 1
        while text[value : value + 1] in (" ", "\t"):
            value += 1
        return first, value, end

    def _opened(self, offset: int, end: int) -> int:
        """How many brackets open between two offsets, comments passed over."""
        brackets = 0
        while offset < end:
            brackets += self.script.text[offset] == "("
            offset = self.skip(offset + 1)
        return brackets

    def _closed(self, offset: int, brackets: int) -> int:
        """The offset behind so many closing brackets, white space and comments passed over."""
        end = offset
        while brackets:
            offset = self.skip(offset)
            if self.script.text[offset : offset + 1] != ")":
                break
            offset += 1
            end = offset
            brackets -= 1
        return end

    def skip(self, offset: int) -> int:
        """The next offset that is not white space, a comment or a joined line."""
        match = _GAP.match(self.script.text, offset)
        assert match is not None
        return match.end()

    def close_of(self, call: ast.Call) -> int:
        """The offset of the bracket that closes a call."""
        return self.script.span(call)[1] - 1

    def open_of(self, call: ast.Call) -> int:
        """The offset behind the bracket that opens a call."""
        offset = self.skip(self.script.span(call.func)[1])
        while self.script.text[offset] == ")":
            offset = self.skip(offset + 1)
        return offset + 1

    def append(self, call: ast.Call, argument: str) -> None:
        """Add an argument behind the last one."""
        spans = self.argument_spans(call)
        if not spans:
            self.insert(self.open_of(call), argument)
            return
        if (
            len(call.args) == 1
            and not call.keywords
            and isinstance(call.args[0], ast.GeneratorExp)
        ):
            start, _ = self.script.span(call.args[0])
            if self.script.text[start] != "(" or start < self.open_of(call):
                self.insert(self.open_of(call), "(")
                self.insert(self.close_of(call), "), " + argument)
                return
        self.insert(spans[-1][2], ", " + argument)

    def keep_arguments(self, call: ast.Call, *kept: ast.expr) -> None:
        """Remove every other argument of a call; comments between them stay."""
        before: Optional[int] = None
        start = end = self.open_of(call)
        for node, first, last in self.argument_spans(call):
            if node not in kept:
                start = first if before is None and start == end else start
                end = last
                continue
            if before is not None:
                self.cut(before, end)
            elif end > start:
                comments, gap = self.comments(start, first)
                self.replace(start, first, comments.lstrip() + gap)
            before = start = end = last
        if before is not None:
            self.cut(before, end)

    def cut(self, start: int, end: int) -> None:
        """Remove arguments behind another one; comments between them stay."""
        text = self.script.text
        if start >= end:
            return
        comma = self.skip(end)
        if "#" in text[start:comma] and text[comma : comma + 1] == ",":
            end = comma + 1
        kept, gap = self.comments(start, end)
        if kept:
            kept = ("," if text[end - 1] == "," else "") + kept
            rest = text[end : self.script.line_end(self.script.position(end)[0])]
            kept += gap if rest.strip() else ""
        self.replace(start, end, kept)

    def comments(self, start: int, end: int) -> Tuple[str, str]:
        """The comments between two offsets, and the line end and indentation behind them."""
        found = [match.group(1) for match in _COMMENT.finditer(self.script.text, start, end)]
        found = [comment for comment in found if comment]
        gap = self.script.newline + self.script.indent(self.script.position(end)[0])
        return ("  " + gap.join(found), gap) if found else ("", "")

    def remove_statement(self, site: Site) -> None:
        """Remove a statement, with its line where it stands alone on it."""
        self.replace_statement(site, None)

    def replace_statement(self, site: Site, lines: Optional[Sequence[str]]) -> None:
        """Put other statements in the place of one; None removes it."""
        script, node = (
            self.script,
            site.node if isinstance(site.node, ast.stmt) else site.statement,
        )
        start, end = self.statement_span(node)
        first, last = script.position(start)[0], script.position(max(start, end - 1))[0]
        before = script.text[script.line_start(first) : start]
        after = script.text[end : script.line_end(last)]
        alone = not before.strip() and not after.strip()
        if lines is None:
            parent = site.parents[-1] if isinstance(site.node, ast.stmt) else _parent(site, node)
            if _is_only(parent, node):
                self.replace(start, end, "pass")
            elif alone:
                self.replace(script.line_start(first), script.line_end(last), "")
            elif after.lstrip().startswith(";"):
                stop = end + after.index(";") + 1
                rest = script.text[stop : script.line_end(last)]
                self.replace(start, stop + len(rest) - len(rest.lstrip(" \t")), "")
            elif not before.strip():
                self.replace(start, end + len(after) - len(after.lstrip(" \t")), "")
            else:
                stripped = before.rstrip()
                cut = stripped[:-1].rstrip() if stripped.endswith(";") else stripped
                self.replace(script.line_start(first) + len(cut), end, "")
            return
        if before.strip() or after.lstrip().startswith(";"):
            self.replace(start, end, "; ".join(lines))
        else:
            self.replace(start, end, (script.newline + before).join(lines))

    def statement_span(self, node: ast.stmt) -> Tuple[int, int]:
        """Where a simple statement begins and ends."""
        script = self.script
        start = script.offset(node.lineno, script.source.column(node.lineno, node.col_offset))
        if isinstance(node, ast.Expr):
            first, end = script.span(node.value)
            return start, self._closed(end, self._opened(start, first))
        if HAS_ENDS:
            last, end = node.end_lineno or 0, node.end_col_offset or 0
            return start, script.offset(last, script.source.column(last, end))
        return start, end_of_import(script.text, start)


_REACHED = (ast.Call, ast.Name, ast.Attribute, ast.Import, ast.ImportFrom)
"""What says whether a line is reached."""
OFF = "this code is off by default: keep it off on the NPU"
_CONDITIONAL = "this code is under a condition that must not be true on the NPU"
_OF_FUNCTION = "left unchanged: all code in this function"
_PARTIAL = "code that depends on this line is edited anyway, because of --partial"
_LATER = "not changed yet: first resolve the refused lines, then migrate again"


def _parent(site: Site, statement: ast.stmt) -> ast.AST:
    nodes: List[ast.AST] = [*site.parents, site.node]
    return nodes[next(i for i, node in enumerate(nodes) if node is statement) - 1]


def _is_only(parent: ast.AST, node: ast.AST) -> bool:
    """True when a statement is the only one of its block."""
    if isinstance(parent, ast.Module):
        return False
    for field in ("body", "orelse", "finalbody"):
        body = getattr(parent, field, None)
        if isinstance(body, list) and node in body:
            return len(body) == 1
    return False


_GAP = re.compile(r"(?:[ \t\r\n\f\\]+|#[^\r\n]*)*")
_COMMENT = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|\'{3}(?:\\.|[^\\])*?\'{3}'''
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(\#[^\r\n]*)""",
    re.S,
)


def end_of_import(text: str, start: int) -> int:
    """The end of an import statement: Python 3.7 does not say it."""
    depth, offset = 0, start
    while offset < len(text):
        character = text[offset]
        if character == "\\" and text[offset + 1 : offset + 2] in ("\r", "\n"):
            offset += 3 if text[offset + 1 : offset + 3] == "\r\n" else 2
            continue
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif depth == 0 and character in ";#\r\n":
            break
        elif character == "#":
            while text[offset] not in "\r\n":
                offset += 1
        offset += 1
    return start + len(text[start:offset].rstrip())


def is_wrapped(node: ast.AST) -> bool:
    """True for a configuration that npu_config or npu_bridge has seen already."""
    ours = ("npu_config_proto", "npu_run_config_init", "to_config_proto")
    return isinstance(node, ast.Call) and name_of(node.func).startswith(ours)


Rule = Callable[[Work, Site, str], None]
"""Looks at a place where a name of TensorFlow is."""
Rules = Dict[str, Rule]


def called(rule: Callable[[Work, Site, ast.Call, str], None]) -> Rule:
    """A rule about calls: it is not asked where a name stands without one."""

    def asked(work: Work, site: Site, name: str) -> None:
        if site.call is not None:
            rule(work, site, site.call, name)

    return asked


def of_calls(
    id: str,
    text: str,
    kind: str = MANUAL,
    depends: bool = False,
    unless: Callable[[Work, Site, ast.Call], bool] = lambda work, site, call: False,
    needs_patch: bool = False,
) -> Rule:
    """A rule that says one thing of every call."""

    @called
    def rule(work: Work, site: Site, call: ast.Call, name: str) -> None:
        if unless(work, site, call):
            return
        if depends:
            work.depend(site, id, text)
        else:
            work.note(site.line, id, kind, text)
        if needs_patch:
            work.needs_patch(site)

    return rule
