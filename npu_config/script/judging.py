"""From the variants of a script to findings: each once, where it is mended, with its path.

What of the script is not checked is told, too, and why: ways to set options that no path follows.
A check that finds nothing has looked at everything.
"""

import ast
import re
from dataclasses import replace
from itertools import islice
from typing import (
    Any,
    Dict,
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

from npu_config.core.diagnostics import Diagnostic, Place, Severity
from npu_config.core.message import join, phrase
from npu_config.core.settings import Settings
from npu_config.python_flow.scopes import (
    UNCLEAR,
    in_brackets,
    keyword_of,
    last_line,
    literal,
    literal_text,
    name_of,
)
from npu_config.rules.case import judge
from npu_config.rules.reading import ALONE, Around
from npu_config.rules.toolkit import on_this_host
from npu_config.script.checks import run_checks
from npu_config.script.conditions import Decision
from npu_config.script.effects import UNFOLLOWED
from npu_config.script.neighbours import has, named_in
from npu_config.script.objects import Entry, as_text, is_known
from npu_config.script.paths import Path
from npu_config.script.reading import Literals, Variant, entry_at, with_fix
from npu_config.script.script import Script
from npu_config.text.rules import not_checked_here
from npu_config.text.words import joined, shown

_WORD = re.compile(r"[A-Za-z_]\w*")


def at_literal(diagnostic: Diagnostic, settings: Settings, script: Script) -> Diagnostic:
    """A fault inside a text, at the one literal of the script that holds the text."""
    setting = settings.entries.get(diagnostic.option or "")
    if diagnostic.name != "json-syntax" or setting is None or not isinstance(setting.value, str):
        return diagnostic
    literals = _literals(script, setting.value)
    if len(literals) != 1:
        return diagnostic
    return replace(diagnostic, **script.source.place_of(literals[0])._asdict())


def _literals(script: Script, text: str) -> List[ast.AST]:
    """The literals of this text, looked for where its longest word is."""
    words = _WORD.findall(text)
    nodes = script.nodes(max(words, key=len)) if words else ()
    return [node for node in nodes if literal_text(node) == text]


class _Row(NamedTuple):
    """A name in the script, and what may be its value there."""

    name: Place
    values: Sequence[ast.expr]


def at_table(diagnostic: Diagnostic, entry: Optional[Entry], script: Script) -> Diagnostic:
    """The finding at the entry of the table, where the script has one such entry.

    Args:
        diagnostic: a finding about an assignment.
        entry: the assignment.
        script: the script.
    """
    if entry is None or entry.built_in or script.source.at(entry.name_place) == entry.name:
        return diagnostic
    rows = list(_rows(script, entry.name))
    beside = [(row, value) for row in rows for value in row.values]
    fitting = [each for each in beside if _is(each[1], entry.raw)]
    fitting = fitting or [each for each in beside if _may_give(each[1])]
    names = {row.name for row, _ in fitting} or {row.name for row in rows}
    if len(names) != 1:
        return diagnostic
    if diagnostic.place == entry.name_place:
        place = names.pop()
    elif len(fitting) == 1 and diagnostic.place == entry.place:
        place = script.source.place_of(fitting[0][1])
    else:
        return diagnostic
    message = phrase("{} (assigned in line {})", diagnostic.message, diagnostic.line)
    return replace(diagnostic, message=message, **place._asdict())


def _rows(script: Script, name: str) -> Iterator[_Row]:
    """Every place of the script where the name stands, with the values beside it."""
    source = script.source
    seen: List[ast.AST] = []
    bare: List[ast.AST] = []
    for node in script.nodes(name):
        for key, values in _pairs(node):
            if literal_text(key) == name:
                seen.append(key)
                yield _Row(source.inside(source.place_of(key), name), values)
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            if keyword.arg == name:
                place = source.place_of(keyword.value)
                yield _Row(source.keyword_place(name, place), [keyword.value])
        if literal_text(node) == name:
            bare.append(node)
    for node in bare:
        if not any(node is each for each in seen):
            yield _Row(source.inside(source.place_of(node), name), ())


def _pairs(node: Any) -> Iterator[Any]:
    """What may be a name, and what may be its value, in a part of the script."""
    if isinstance(node, ast.Dict):
        yield from ((key, [value]) for key, value in zip(node.keys, node.values) if key)
    elif isinstance(node, (ast.Tuple, ast.List)):
        yield from [(node.elts[0], node.elts[1:])] if node.elts else ()
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        yield in_brackets(node.targets[0]), [node.value]
    elif isinstance(node, ast.Call):
        yield from ((key, [each for each in node.args if each is not key]) for key in node.args)


def _is(node: ast.expr, value: Any) -> bool:
    """True for a literal of a value that is known."""
    written = literal(node)
    return written is not UNCLEAR and is_known(value) and as_text(written) == as_text(value)


def _may_give(node: ast.expr) -> bool:
    """True for an expression whose value is not written there."""
    is_clear = literal(node) is not UNCLEAR
    return not is_clear and isinstance(node, (ast.Name, ast.Attribute, ast.Call))


_CONDITIONS = 3

_CAUSES = ("option-overridden-by-run-config", "switch-never-on", "unknown-option", "wrong-field")
_CONSEQUENCES: Mapping[str, Sequence[str]] = {
    "dump-option-without-dump": ("enable_dump",),
    "dump-path-without-dump": ("enable_dump", "enable_dump_debug"),
    "dynamic-option-without-dynamic-input": ("dynamic_input",),
    "overflow-mode-without-detection": ("enable_dump_debug",),
    "profiling-options-without-profiling": ("profiling_mode",),
}
"""What is found because a switch is not on; no consequence is graver than its cause."""


class Conditions(NamedTuple):
    """What leads to a finding.

    ``literals`` are the conditions, ``decisions`` those of them that are worth saying, ``outer``
    those that led to no other one; ``may_turn`` is True when one of them is of a loop's round.
    """

    path: Path
    literals: Literals
    decisions: Sequence[Decision]
    outer: Sequence[int]
    may_turn: bool


Needed = Dict[Tuple[int, ...], Conditions]


class _Entry(NamedTuple):
    """A finding, the paths that it is made on, the conditions of its place, and those named."""

    diagnostic: Diagnostic
    paths: List[Path]
    own: Optional[Literals]
    named: Literals


class Findings:
    """Findings as they come from the paths of a script, to be merged in the end."""

    def __init__(self) -> None:
        self._found: Dict[Tuple[object, ...], _Entry] = {}
        self._overwritten: List[Tuple[Diagnostic, Variant]] = []

    def add(
        self,
        diagnostic: Diagnostic,
        paths: Iterable[Path],
        own: Optional[Literals] = None,
        named: Literals = frozenset(),
    ) -> None:
        """Enter a finding that is made on some paths.

        ``own`` are the conditions that its place is under, where they are known, ``named``
        those that its message names.
        """
        key = (
            diagnostic.rule,
            diagnostic.place,
            diagnostic.option,
            diagnostic.message,
            diagnostic.severity,
        )
        found = self._found.get(key)
        if found is None:
            self._found[key] = _Entry(diagnostic, list(paths), own, named)
        else:
            found.paths.extend(paths)

    def settle_consequences(self) -> None:
        """Take out what follows from a switch that another finding on the path is about.

        Where that finding only supposes that the switch was meant, it stays as information.
        """
        reported: Dict[str, Set[int]] = {}
        supposed: Dict[str, Set[int]] = {}
        for diagnostic, paths in self._all():
            if diagnostic.name in _CAUSES and diagnostic.option is not None:
                reported.setdefault(diagnostic.option, set()).update(map(id, paths))
                if diagnostic.meant is not None:
                    supposed.setdefault(diagnostic.meant, set()).update(map(id, paths))
        for key, entry in list(self._found.items()):
            for switch in _CONSEQUENCES.get(entry.diagnostic.name, ()):
                self._take(key, reported.get(switch, set()))
                taken = self._take(key, supposed.get(switch, set()))
                if taken:
                    self.add(replace(entry.diagnostic, severity=Severity.INFO), taken)

    def _all(self) -> Iterator[Tuple[Diagnostic, Sequence[Path]]]:
        for entry in self._found.values():
            yield entry.diagnostic, entry.paths
        for diagnostic, variant in self._overwritten:
            yield diagnostic, variant.paths

    def _take(self, key: Tuple[object, ...], on: Set[int]) -> List[Path]:
        """Take a finding out on these paths; those of them that it was made on."""
        if key not in self._found or not on:
            return []
        paths = self._found[key].paths
        taken = [path for path in paths if id(path) in on]
        paths[:] = [path for path in paths if id(path) not in on]
        if not paths:
            del self._found[key]
        return taken

    def add_overwritten(self, diagnostic: Diagnostic, variant: Variant) -> None:
        """Enter a finding about an assignment that does not last on these paths."""
        self._overwritten.append((diagnostic, variant))

    def merged(self) -> List[Diagnostic]:
        """Every finding once, with the conditions that it needs."""
        lasting = {
            (entry.diagnostic.rule, entry.diagnostic.place) for entry in self._found.values()
        }
        twice: Dict[object, List[Tuple[object, ...]]] = {}
        for key, entry in self._found.items():
            if entry.diagnostic.name == "option-set-twice":
                option, place = entry.diagnostic.option, entry.diagnostic.place
                twice.setdefault((option, place), []).append(key)
        for diagnostic, variant in self._overwritten:
            by = variant.shadowed_by
            if diagnostic.name == "unknown-option":
                self.add(diagnostic, variant.paths)
            elif diagnostic.severity is Severity.INFO:
                self.add(replace(diagnostic, fix=None), variant.paths)
            elif (diagnostic.rule, diagnostic.place) not in lasting and by is not None:
                for key in twice.get((diagnostic.option, by), ()):
                    self._take(key, {id(path) for path in variant.paths})
                self.add(_of_overwritten(diagnostic, by), variant.paths)
        known: Needed = {}
        return _gravest([_noted(entry, known) for entry in self._found.values()])


def _gravest(found: List[Diagnostic]) -> List[Diagnostic]:
    """What a rule says of an option at one place, without what is less severe."""
    ranks: Dict[object, int] = {}
    for d in found:
        key = (d.rule, d.place, d.option)
        ranks[key] = max(ranks.get(key, 0), d.severity.rank)
    return [d for d in found if d.severity.rank == ranks[d.rule, d.place, d.option]]


def _noted(entry: _Entry, known: Needed) -> Diagnostic:
    diagnostic, paths, own, named = entry
    if not paths:
        return diagnostic
    real = [path for path in paths if not path.supposed]
    if not real:
        return _supposed(diagnostic, paths[0])
    conditions = conditions_of([path for path in real if not path.skips] or real, known)
    path, needed = conditions.path, conditions.literals
    if path.skips:  # worth knowing, no more
        diagnostic = replace(diagnostic, severity=Severity.INFO)
    if not needed:
        return diagnostic
    own = _own(diagnostic.place, path) if own is None else own
    severity = diagnostic.severity
    if severity is Severity.ERROR and (
        conditions.may_turn  # another round of a loop may have gone the other way
        or len(conditions.outer) - len(own) > 1
        or _choices(path, needed - own) + bool(needed & own) > 1
    ):
        severity = Severity.WARNING
    shown = last_words(_of_file(conditions, diagnostic.place.path), named)
    if not shown:
        return replace(diagnostic, severity=severity)
    note = phrase("when {}", join(" and ", shown))
    message = phrase("{} ({})", diagnostic.message, note)
    return replace(diagnostic, message=message, severity=severity)


def _of_file(conditions: Conditions, file: Optional[str]) -> Sequence[Decision]:
    """The conditions of a finding; of one in another file those that are there, too."""
    decisions = conditions.decisions
    if file in (None, conditions.path.outcome.script.source.path):
        return decisions
    return [decision for decision in decisions if decision.file == file]


def last_words(decisions: Sequence[Decision], named: Literals = frozenset()) -> List[str]:
    """The last conditions in the words of the script, without those that are named."""
    unnamed = (d.text for d in reversed(decisions) if (d.atom, d.holds) not in named)
    return list(islice(unnamed, _CONDITIONS))[::-1]


def _said(decisions: Sequence[Decision]) -> List[Decision]:
    """The decisions without those that others imply."""
    equal = {d.equal_subject for d in decisions if d.equal_subject and d.holds}
    return [d for d in decisions if d.holds or d.equal_subject not in equal]


def conditions_of(paths: Sequence[Path], known: Needed) -> Conditions:
    """The fewest conditions that lead to a finding from one starting point, and such a path.

    Many findings are made on the same paths, so what is found is kept in ``known``.
    """
    key = tuple(map(id, paths))
    if key not in known:
        starts: Dict[int, List[Path]] = {}
        for path in paths:
            starts.setdefault(path.start, []).append(path)
        found = [
            (group[0], frozenset.intersection(*[path.literals for path in group]))
            for group in starts.values()
        ]
        path, needed = min(found, key=lambda pair: len(pair[1]))
        decisions = [d for d in path.trace if (d.atom, d.holds) in needed]
        known[key] = Conditions(
            path,
            needed,
            _said(decisions),
            _outer(path, needed),
            any(d.in_loop and not d.node_holds for d in decisions),
        )
    return known[key]


def switches_of(path: Path) -> List[str]:
    """The conditions that the script as it is does not meet."""
    return [decision.text for decision in path.trace if decision.supposed]


def _supposed(diagnostic: Diagnostic, path: Path) -> Diagnostic:
    """A finding in code that is switched off: worth knowing, no more."""
    message = phrase(
        "{} (in code that is switched off: if {})",
        diagnostic.message,
        join(" and ", switches_of(path)),
    )
    return replace(diagnostic, message=message, severity=Severity.INFO)


def _of_overwritten(diagnostic: Diagnostic, by: Place) -> Diagnostic:
    """A fault of an assignment that does not last: a warning, since nothing reads it."""
    consequence = phrase("this value is never read: line {} overwrites it", by.line)
    return diagnostic.but(consequence, Severity.WARNING)


def _own(place: Place, path: Path) -> Literals:
    """The conditions under which the statement at a place is reached."""
    return literals(path, path.outcome.guards_at(place))


def literals(path: Path, indices: Tuple[int, ...]) -> Literals:
    """The decisions of a path with these numbers, as pairs of atom and value."""
    return frozenset((path.trace[index].atom, path.trace[index].holds) for index in indices)


def _choices(path: Path, needed: Literals) -> int:
    """How many independent choices the needed conditions are; nested ones count as one."""
    return len(_outer(path, needed))


def _outer(path: Path, needed: Literals) -> List[int]:
    """The decisions that were needed and that led to no other one of them."""
    chosen = [
        index
        for index, decision in enumerate(path.trace)
        if (decision.atom, decision.holds) in needed
    ]
    inner: Set[int] = set()
    for index in chosen:
        inner.update(path.trace[index].guards)
    return [index for index in chosen if index not in inner]


def judge_variants(
    script: Script,
    variants: Sequence[Variant],
    paths: Sequence[Sequence[Path]],
    around: Around = ALONE,
) -> List[Diagnostic]:
    """Every finding about a script that was read; each builder is judged for its own target."""
    findings = Findings()
    environ, on_host = around.environ, around.on_host
    targets = [around.target_of(*each.target) for each in variants] or [around.target_of()]
    if on_host:
        installed = {each: on_this_host(each, environ) for each in set(targets)}
        targets = [installed[each] for each in targets]
    for variant, meant in zip(variants, targets):
        for diagnostic in judge(variant.settings, meant, environ, on_host):
            is_overwritten = variant.shadowed_by is not None
            path, own = variant.paths[0], None
            if not is_overwritten or diagnostic.name == "unknown-option":  # a name stays as it is
                placed = at_literal(diagnostic, variant.settings, script)
                diagnostic = with_fix(placed, path, script.source)
                moved = at_table(diagnostic, entry_at(placed, path.outcome), script)
                if moved is not diagnostic:
                    diagnostic, own = moved, _own(diagnostic.place, path)
            if is_overwritten:
                findings.add_overwritten(diagnostic, variant)
            else:
                findings.add(diagnostic, variant.paths, own)
    for path in (path for group in paths for path in group):
        for refused, guards in path.outcome.refused:
            findings.add(refused, (path,), literals(path, guards))
    versions = {each.version for each in targets}
    for found in run_checks(script, paths, versions.pop() if len(versions) == 1 else None):
        if found.path is None:
            findings.add(found.diagnostic, ())
        else:
            named = () if found.named is None else (found.named,)
            own = literals(found.path, found.guards)
            findings.add(found.diagnostic, (found.path,), own, literals(found.path, named))
    findings.settle_consequences()
    return _with_one_note(findings.merged(), script.source.path)


_SURROUNDINGS = {
    "memory-optimization-not-off": "memory_optimization",
    "xla-not-off": "global_jit_level",
    "soft-placement-off": "allow_soft_placement",
}
"""The rules about what is around the options, and what each of them is about."""


def _with_one_note(found: List[Diagnostic], own: Optional[str]) -> List[Diagnostic]:
    """The findings with one note about what is around the options in place of many."""
    notes = [
        d
        for d in found
        if d.name in _SURROUNDINGS and d.severity is Severity.INFO and d.path == own
    ]
    if len(notes) < 2:
        return found
    names = list(_SURROUNDINGS)
    first = min(notes, key=lambda d: (names.index(d.name), d.line or 0, d.column or 0))
    others = [
        _SURROUNDINGS[name]
        for name in names
        if name != first.name and any(note.name == name for note in notes)
    ]
    lines = sorted({d.line for d in notes if d.name == first.name and d.line} - {first.line})
    message = first.message
    if others:
        message += phrase(
            "; {} does not have the documented value"
            if len(others) == 1
            else "; {} do not have the documented values",
            joined(list(map(shown, others))),
        )
    if lines:
        message += phrase(" (the same in line {})", joined([str(line) for line in lines]))
    rest = [d for d in found if not any(d is note for note in notes)]
    return [*rest, replace(first, message=message)]


_RUNS_TEXT = ("exec", "eval", "compile")
_MAKERS = ("NPURunConfig", "NpuConfigBuilder")
_SETS = ("parameter_map", "custom_optimizers", "NpuConfig", "NPURunConfig")
_HELP = (
    "check these options by hand (if another file sets them: npu-config check FILE), or set "
    "them to literal values; # npu: ignore[NPU784] silences this note"
)


def unfollowed(script: Script) -> List[Diagnostic]:
    """One note for each statement that may set options and is not followed."""
    found: Dict[int, Tuple[ast.AST, str]] = {}
    for node, message in (
        *script.unfollowed.items(),
        *_code(script),
        *_maps(script),
        *_classes(script),
    ):
        found.setdefault(getattr(node, "lineno", 0), (node, message))
    return [
        not_checked_here.diagnostic(message, script.source.place_of(node), help=_HELP)
        for _, (node, message) in sorted(found.items())
    ]


def _code(script: Script) -> Iterator[Tuple[ast.AST, str]]:
    """Code that is a text."""
    if not any(script.source.mentions(word) for word in _RUNS_TEXT):
        return
    for node in script.nodes(*_RUNS_TEXT):
        if isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Name):
            texts = list(_texts(script, node.args[0])) if node.func.id in _RUNS_TEXT else []
            is_exec = node.func.id == "exec"
            if any(word in text for text in texts for word in _SETS) or (
                is_exec and any(_file_sets(script, text) for text in texts)
            ):
                message = "code in a string is not checked, but this code sets options"
                yield node, phrase(message)


def _file_sets(script: Script, name: str) -> bool:
    """True when a text names a file near the script that sets options."""
    path = named_in(script.source.path, name) if name.endswith(".py") else None
    return path is not None and has(path, _SETS)


def _texts(script: Script, node: ast.expr) -> Iterator[str]:
    """The texts that an expression is made of, those of names of the module among them."""
    for part in ast.walk(node):
        nodes = [part]
        if isinstance(part, ast.Name):
            nodes = [store.node for store in script.module.stores.get(part.id, ())]
        yield from filter(None, map(literal_text, nodes))


def _classes(script: Script) -> Iterator[Tuple[ast.AST, str]]:
    """What makes configurations, where it is not called at once."""
    message = (
        "{} is used here in a way that this check cannot follow; its arguments are not checked"
    )
    for node in script.nodes(*_MAKERS):
        if isinstance(node, ast.ClassDef):
            values = node.bases
        elif isinstance(node, ast.Call):
            values = node.args
            if name_of(node.func) in ("isinstance", "issubclass"):
                continue
            if name_of(node.func) == "getattr" and len(node.args) > 1:
                text = literal_text(node.args[1])
                if text in _MAKERS:
                    yield node, phrase(message, text)
        elif isinstance(node, ast.Assign):
            values = [node.value] if name_of(node.value) == _MAKERS[1] else []
        else:
            continue
        for value in values:
            if name_of(value) in _MAKERS:
                yield value, phrase(message, name_of(value))


def _maps(script: Script) -> Iterator[Tuple[ast.AST, str]]:
    """Statements with a ``parameter_map`` that no path comes to, or on what is not followed."""
    if not script.source.mentions("parameter_map"):
        return
    nodes = script.nodes("parameter_map")
    dead = [lines for node in nodes for lines in _never_run(node)]
    for node in nodes:
        if isinstance(node, ast.Call) and keyword_of(node, "parameter_map") is not None:
            yield node, UNFOLLOWED
        if not isinstance(node, ast.Attribute) or node.attr != "parameter_map":
            continue
        if node not in script.followed and not any(node.lineno in lines for lines in dead):
            yield node, UNFOLLOWED


def _never_run(node: ast.AST) -> Iterator[range]:
    """The lines below a condition that is a constant and does not hold."""
    if isinstance(node, (ast.If, ast.While)):
        value = literal(node.test)
        body = node.orelse if value else node.body
        if value is not UNCLEAR and body:
            yield range(body[0].lineno, last_line(body[-1]) + 1)
